import type { Manifest } from '../../schemas/generated/manifest.ts'
import type { Origin } from '../access/actor.ts'
import type { Db } from '../db/db.ts'
import type { IntegrationRow } from '../db/queries/integrations.ts'
import { type Level, readPlaceLevels } from '../db/queries/levels.ts'
import { eachInstallation } from '../db/queries/list-installations.ts'
import { releaseWaiting } from '../db/queries/release-waiting.ts'
import { findVersionHead, listVersions, type VersionHead } from '../db/queries/versions.ts'
import { transact } from '../db/sql.ts'
import { AnnexError, type ErrorDetail } from '../errors.ts'
import { recordAudit } from '../logs/audit.ts'
import type { ReadOptions } from '../manifest/read-options.ts'
import { missingSecrets } from '../manifest/secrets.ts'
import { switchVersion } from '../versions/deploy-version.ts'
import { findDeployed } from './find-deployed.ts'
import { isFit } from './install.ts'
import { nameOfLevel, statusOf, whyPending } from './level-settings.ts'
import { noteStatusesOf } from './note-status.ts'

/**
 * Deploys an older version and pins it: loading the folder deploys nothing until `unpin`.
 *
 * @param given.number default: the version before the deployed one
 * @param given.isDry checks the version, and changes nothing
 * @throws AnnexError `not_found`; `conflict` with a detail for each secret, level and setting that the version would miss
 */
export async function rollBack(
  db: Db,
  integration: IntegrationRow,
  { number, isDry = false }: { number?: number | undefined; isDry?: boolean | undefined },
  reading: ReadOptions,
  origin: Origin,
): Promise<VersionHead> {
  const version = await findOlder(db, integration, number)
  const details = await whyBroken(db, JSON.parse(version.manifest), integration, reading)
  if (details.length > 0) {
    const list = details.map(({ path, message }) => `  ${path}: ${message}`).join('\n')
    const text = `Version ${version.number} of ${integration.name} cannot run here, and nothing was changed:\n${list}`
    throw new AnnexError('conflict', text, { details })
  }
  if (!isDry) await deploy(db, integration, version, { pinned: true, origin })
  return version
}

/** Deploys the version of the folder again, and from then on each version that is loaded. @throws AnnexError `conflict` */
export async function unpin(db: Db, row: IntegrationRow, origin: Origin): Promise<VersionHead> {
  const { name, versionId, pinnedVersionId, loadedVersionId } = row
  const version = loadedVersionId === null ? undefined : await findVersionHead(db, loadedVersionId)
  if (pinnedVersionId === null || version === undefined)
    throw new AnnexError('conflict', `No version of ${name} is pinned.`)
  if (versionId === null)
    throw new AnnexError('conflict', `The folder of ${name} is gone. Put it back before you unpin.`)
  await deploy(db, row, version, { pinned: false, origin })
  return version
}

async function deploy(
  db: Db,
  { name, organizationId, versionId }: IntegrationRow,
  version: VersionHead,
  { pinned, origin }: { pinned: boolean; origin: Origin },
): Promise<void> {
  const before = versionId === null ? undefined : await findVersionHead(db, versionId)
  const lanes = await transact(db, async (transaction) => {
    await recordAudit(transaction, origin, {
      action: pinned ? 'version.roll_back' : 'version.unpin',
      organizationId,
      subject: { kind: 'integration', id: name },
      ...(before && { before: { version: before.number } }),
      after: { version: version.number },
    })
    return switchVersion(transaction, name, version, { pinned })
  })
  for (const lane of lanes) await releaseWaiting(db, lane)
  await noteStatusesOf(db, name, { why: 'version', origin, version: version.number })
}

async function findOlder(
  db: Db,
  { name, versionId }: IntegrationRow,
  number: number | undefined,
): Promise<VersionHead> {
  const versions = await listVersions(db, name)
  const deployed = versions.find(({ id }) => id === versionId)
  if (deployed === undefined) throw new AnnexError('no_version', `No version of ${name} is deployed.`)
  const found = versions.find((one) =>
    number === undefined ? one.number < deployed.number : one.number === number,
  )
  if (found !== undefined) return found
  const numbers = versions.map((one) => one.number).join(', ')
  throw new AnnexError(
    'not_found',
    `${name} has no ${number === undefined ? 'older version' : `version ${number}`}. Kept are: ${numbers}.`,
  )
}

/** A reason for each thing that a version needs, and that is missing here. */
async function whyBroken(
  db: Db,
  manifest: Manifest,
  { organizationId }: IntegrationRow,
  reading: ReadOptions,
): Promise<ErrorDetail[]> {
  const reasons = missingSecrets(manifest, reading, organizationId).map(([name, reference]) => ({
    path: `/secrets/${name}`,
    message: `${reference} is not set on this host`,
  }))
  for await (const installation of eachInstallation(db, { integration: manifest.name })) {
    if (reasons.length >= mostReasons) break
    const now = (await findDeployed(db, manifest.name, installation))?.manifest
    const levels = [installation, ...(await readPlaceLevels(db, installation))]
    reasons.push(...levels.flatMap((level) => whyLevelBroken(manifest, now, level)))
  }
  return reasons.slice(0, mostReasons)
}

/** A level that is active, and would not be with that version. */
function whyLevelBroken(manifest: Manifest, now: Manifest | undefined, level: Level): ErrorDetail[] {
  const { kind } = level
  const where = nameOfLevel(level)
  if (kind !== 'account' && !isFit(manifest, kind))
    return [{ path: '/target', message: `it cannot be installed in a ${kind}, as ${where} is` }]
  if (statusOf(now, level) !== 'active') return []
  return whyPending(manifest, level).map(({ path, message }) => ({
    path: `/configurations/${kind}${path.replace('/configuration', '/properties')}`,
    message: `${where}: ${message}`,
  }))
}

const mostReasons = 20
