import type { ScriptCaller } from '../access/script-tokens.ts'
import type { Db } from '../db/db.ts'
import { findGrant } from '../db/queries/grants.ts'
import type { Running } from '../db/queries/installations.ts'
import { hasUnreached, listAgreements, type Reach } from '../db/queries/reach.ts'
import { findVersionHead } from '../db/queries/versions.ts'
import { AnnexError } from '../errors.ts'
import { describePermission, findUnagreed, type Permission, permissionsOf } from '../manifest/permissions.ts'
import { assertRuns } from './assert-runs.ts'

// A version reaches an installation only with what its organization has agreed to: the version that runs there, and any
// version that asks for no more than the agreement covers. This binds the level of the integration, which runs for no
// installation, and scripts of other installations: tokens, storage and tasks.

/** An installation whose organization has not agreed to the version that asks for it. */
export class UnreachedError extends AnnexError {
  readonly installationId: string

  constructor(installationId: string, message: string) {
    super('not_found', message)
    this.installationId = installationId
  }
}

/** What a version asks for. @returns undefined for a version that is no longer kept */
async function wantedBy(db: Db, versionId: string): Promise<Permission[] | undefined> {
  const version = await findVersionHead(db, versionId)
  return version && permissionsOf(JSON.parse(version.manifest))
}

/** What a version asks for, and an installation's organization has not agreed to. @returns undefined for an unknown version */
async function findUnreached(
  db: Db,
  versionId: string,
  running: Pick<Running, 'installation' | 'manifest' | 'versionId'>,
): Promise<Permission[] | undefined> {
  if (running.versionId === versionId) return []
  const wanted = await wantedBy(db, versionId)
  if (wanted === undefined) return undefined
  const grant = await findGrant(db, running.installation.id)
  if (grant !== undefined) return findUnagreed(JSON.parse(grant.permissions), wanted)
  return findUnagreed(running.manifest === undefined ? [] : permissionsOf(running.manifest), wanted)
}

export const isReached = async (db: Db, versionId: string, running: Running): Promise<boolean> =>
  (await findUnreached(db, versionId, running))?.length === 0

/**
 * Asserts that a script may act on an installation. Its own installation it may always reach.
 *
 * @throws UnreachedError; AnnexError `installation_paused`, `installation_suspended`
 */
export async function assertReached(db: Db, caller: ScriptCaller, running: Running): Promise<void> {
  const { installation, deployedId } = running
  const { holder } = caller
  if (holder?.installationId === installation.id) return
  assertRuns(installation)
  const versionId = holder?.versionId ?? deployedId
  if (versionId === null) return
  const missing = await findUnreached(db, versionId, running)
  if (missing?.length === 0) return
  throw new UnreachedError(installation.id, await describeUnreached(db, versionId, running, missing))
}

async function describeUnreached(
  db: Db,
  versionId: string,
  { installation: { id, integration } }: Running,
  missing: Permission[] | undefined,
): Promise<string> {
  const version = await findVersionHead(db, versionId)
  if (version === undefined || missing === undefined)
    return `The version of ${integration} that has this token is no longer kept, so it does not reach ${id}.`
  const sentences = missing.map((permission) => `  ${describePermission(permission)}`).join('\n')
  return (
    `${id} is out of reach: its organization has not agreed to version ${version.number} of ${integration}, which also asks for:\n` +
    `${sentences}\nIts script there still reaches it. An admin agrees: npx annex agree ${id}`
  )
}

/** The installations that a version reaches, for a query. @returns undefined without a deployed version */
export async function readReach(
  db: Db,
  integration: string,
  given: { versionId: string | undefined; deployedId: string },
): Promise<Reach> {
  const { deployedId, versionId = deployedId } = given
  const wanted = await wantedBy(db, versionId)
  const all = wanted === undefined ? [] : await listAgreements(db, integration)
  const agreed = all
    .filter(({ permissions }) => findUnagreed(JSON.parse(permissions), wanted ?? []).length === 0)
    .map(({ version }) => version)
  return { versionId, deployedId, agreed }
}

/**
 * True where a version may have what another version has left at the level of the integration: it asks for no more, or no
 * organization waits for it.
 *
 * @param leftBy undefined: unknown
 */
export async function mayInherit(
  db: Db,
  integration: string,
  given: { versionId: string; leftBy: string | undefined; deployedId: string },
): Promise<boolean> {
  const { versionId, leftBy, deployedId } = given
  if (versionId === leftBy || (await asksNoMore(db, versionId, leftBy))) return true
  return !(await hasUnreached(db, integration, await readReach(db, integration, { versionId, deployedId })))
}

/** True where all that a version asks for is asked for by the other one as well. */
export async function asksNoMore(db: Db, versionId: string, than: string | undefined): Promise<boolean> {
  const [wanted, before] = await Promise.all([
    wantedBy(db, versionId),
    than === undefined ? undefined : wantedBy(db, than),
  ])
  return wanted !== undefined && before !== undefined && findUnagreed(before, wanted).length === 0
}
