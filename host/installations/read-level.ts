import type { Db } from '../db/db.ts'
import { findTarget } from '../db/queries/installed/installation-targets.ts'
import { findInstallation } from '../db/queries/installed/installations.ts'
import { findVersionCode } from '../db/queries/integrations.ts'
import { AnnexError } from '../errors/annex-error.ts'
import type { Level } from '../sandbox/level.ts'
import type { LevelRecords } from './build-environment.ts'
import { getDeployed } from './find-deployed.ts'

/**
 * Reads what a level consists of.
 *
 * @throws AnnexError `not_found` when there is no such level; `no_version` when nothing is deployed for it
 */
export async function readLevel(db: Db, level: Level): Promise<LevelRecords> {
  const { version, ...deployed } = await getDeployed(db, level.integration)
  const installed = await readInstallation(db, level)
  // The code last: it may be long, and whoever asks for what is not there must not cost as much.
  const code = await findVersionCode(db, version.id)
  // Two newer versions were deployed meanwhile.
  if (code === undefined) return readLevel(db, level)
  return { level, ...deployed, version: { ...version, code }, ...installed }
}

async function readInstallation(
  db: Db,
  level: Level,
): Promise<Pick<LevelRecords, 'installation' | 'target'>> {
  if (level.kind === 'integration') return {}
  const { integration, installationId } = level
  const installation = await findInstallation(db, installationId)
  if (installation === undefined || installation.integration !== integration) {
    throw new AnnexError('not_found', `${integration} has no installation ${installationId}.`)
  }
  if (level.kind === 'installation') return { installation }
  const { kind, targetId } = level
  const target = await findTarget(db, { installationId, kind, targetId })
  if (target === undefined) {
    throw new AnnexError('not_found', `${installationId} is not installed in the ${kind} ${targetId}.`)
  }
  return { installation, target }
}
