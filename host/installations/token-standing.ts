import type { ScriptCaller } from '../access/script-tokens.ts'
import type { Db } from '../db/db.ts'
import { findRunning } from '../db/queries/installations.ts'
import { findIntegration } from '../db/queries/integrations.ts'
import { isEnding } from '../db/queries/reach.ts'
import { AnnexError } from '../errors.ts'
import { suspendedError } from '../sandbox/sandbox-errors.ts'
import { assertRuns } from './assert-runs.ts'
import { findDeployed } from './find-deployed.ts'
import { assertReached } from './reach.ts'

/**
 * A token lives longer than a version, and than an installation: reads the scopes that the versions still declare. The token
 * of a script that is stopped has no effect until the script is resumed.
 *
 * @returns undefined for an installation that has ended
 * @throws AnnexError `installation_paused`, `installation_suspended`, `no_version`; UnreachedError
 */
export async function readScopes(db: Db, caller: ScriptCaller): Promise<readonly string[] | undefined> {
  const { integration } = caller
  const deployed = await findDeployed(db, integration)
  if (deployed === undefined) {
    // It was pruned, with all that its token could reach.
    if ((await findIntegration(db, integration)) === undefined) return []
    throw new AnnexError(
      'no_version',
      `No version of ${integration} is deployed, so its tokens have no effect.`,
    )
  }
  const { suspendedAt, suspendedReason } = deployed.integration
  const held = await readHolder(db, caller)
  if (held === 'ended') return undefined
  if (held === undefined && suspendedAt !== null) throw suspendedError(integration, suspendedReason ?? '')
  if (caller.kind === 'integration') return (held?.manifest ?? deployed.manifest).scopes
  if (held?.installation.id === caller.installationId) return held.manifest?.scopes ?? []
  const running = await findRunning(db, caller.installationId)
  if (running === undefined) return undefined
  await assertReached(db, caller, running)
  return running.manifest?.scopes ?? []
}

/** The installation whose script has the token. @returns undefined for a script that runs for no installation */
async function readHolder(db: Db, caller: ScriptCaller) {
  const own = caller.kind === 'installation' ? caller.installationId : undefined
  const id = caller.holder === undefined ? own : caller.holder.installationId
  if (id === undefined) return undefined
  const running = await findRunning(db, id)
  if (running === undefined) return 'ended'
  const isLast = caller.holder?.isLast === true && (await isEnding(db, id))
  if (!isLast) assertRuns(running.installation)
  return running
}
