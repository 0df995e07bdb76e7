import type { Context } from 'koa'
import type { Manifest } from '../../schemas/generated/manifest.ts'
import type { Operation } from '../../schemas/list-operations.ts'
import { isInstallKey } from '../access/install-keys.ts'
import type { Caller } from '../access/tokens.ts'
import { isSameName } from '../db/any-case.ts'
import type { Db } from '../db/db.ts'
import { findRunning, type Installation, type PlaceKind, type Running } from '../db/queries/installations.ts'
import { findIntegration, type IntegrationRow } from '../db/queries/integrations.ts'
import { findPlaceLevel, type Level } from '../db/queries/levels.ts'
import { findInstalled } from '../db/queries/list-installations.ts'
import { findPlace, findPlacesOf, type Places } from '../db/queries/places.ts'
import { listUnreached, type Reach } from '../db/queries/reach.ts'
import { AnnexError, isAnnexError } from '../errors.ts'
import { type Deployed, findDeployed, getDeployed } from '../installations/find-deployed.ts'
import { assertReached, readReach } from '../installations/reach.ts'
import { assertScope } from '../sandbox/host-calls.ts'
import { isPerson, mayOpen, ownOf } from './caller.ts'

/** An installation, or its site or space installation, with the manifest of the version that it runs. */
export type OpenLevel = { caller: Caller; level: Level; installation: Installation; manifest: Manifest }

/** A request for an installation, or for one of its site or space installations. */
export type LevelRequest = {
  caller: Caller
  /** Without `integration` the installation may be of any. */
  params: { integration?: string; installation: string; site?: string; space?: string }
  operation: Pick<Operation, 'scope'>
}

/**
 * Finds the level that a path names: an installation, or its site or space installation by the id or slug of the site or
 * space.
 *
 * @throws AnnexError `not_found`, also when the caller may not see it; `missing_scope`; `no_version`
 */
export async function openLevel(db: Db, request: LevelRequest): Promise<OpenLevel> {
  const opened = await openUndeployed(db, request)
  const { installation } = opened
  const manifest = opened.manifest ?? (await getDeployed(db, installation.integration, installation)).manifest
  return { ...opened, manifest }
}

/** As `openLevel`, also of an integration without a deployed version. */
export async function openUndeployed(
  db: Db,
  { caller, params, operation }: LevelRequest,
): Promise<Omit<OpenLevel, 'manifest'> & { manifest: Manifest | undefined }> {
  const found = await visibleInstallation(db, caller, params.integration, params.installation)
  const { installation, manifest } = found
  assertOperationScope(caller, operation)
  const { site, space } = params
  if (site === undefined && space === undefined)
    return { caller, level: installation, installation, manifest }
  const kind = site === undefined ? 'space' : 'site'
  const name = site ?? space ?? ''
  const { id, organizationId } = installation
  const placeId = (await findPlace(db, kind, organizationId, name))?.id ?? name
  const level = await findPlaceLevel(db, installation, { kind, placeId })
  if (level !== undefined && isThereFor(caller, level)) return { caller, level, installation, manifest }
  throw new AnnexError('not_found', `${id} is not installed in the ${kind} ${name}.`)
}

/**
 * Finds an installation by its id, with the manifest of the version that it runs. A script sees its own installation, an
 * integration the installations that its version reaches, a person those of their organization.
 *
 * @throws AnnexError `not_found`, and the errors of `assertReached`
 */
export async function visibleInstallation(
  db: Db,
  caller: Caller,
  integration: string | undefined,
  id: string,
): Promise<Running> {
  const found = await findRunning(db, id)
  if (
    found !== undefined &&
    (integration === undefined || isSameName(found.installation.integration, integration)) &&
    maySee(caller, found.installation) &&
    isThereFor(caller, found.installation)
  ) {
    if (caller.kind === 'integration') await assertReached(db, caller, found)
    return found
  }
  const who = integration === undefined ? 'There is' : `${integration} has`
  throw new AnnexError('not_found', `${who} no installation ${id} that you may see.`)
}

/**
 * Refuses a script without the scope of the operation. Check it once the record is found: a script learns nothing about
 * records outside its reach.
 *
 * @throws AnnexError `missing_scope`, which names the scope
 */
export function assertOperationScope(caller: Caller, { scope }: Pick<Operation, 'scope'>): void {
  if (scope !== undefined && !isPerson(caller)) assertScope(caller, scope)
}

/** The last event of an uninstall is handled with a token that still works. */
const isThereFor = (caller: Caller, { removingAt }: { removingAt: number | null }): boolean =>
  removingAt === null || !isPerson(caller)

function maySee(caller: Caller, installation: Installation): boolean {
  switch (caller.kind) {
    case 'operator':
    case 'organization':
      return mayOpen(caller, installation.organizationId)
    case 'integration':
      return caller.integration === installation.integration
    case 'installation':
      return caller.installationId === installation.id
  }
}

/** `context.state.usedInstallation`: the installation that lets a script find a place. Its permission counts as used. */
export type PlaceRequest = { caller: Caller; operation: Pick<Operation, 'scope'>; context: Context }

/**
 * Finds a site or space by its id or slug. A person sees those of their organization, a script those that it is installed
 * in.
 *
 * @param given.organizationId limits the search to one organization
 * @throws AnnexError `not_found`; `missing_scope` for a script that reaches it without the operation's scope; `bad_request`
 *   where several have the slug
 */
export async function visiblePlace<Kind extends PlaceKind>(
  db: Db,
  { caller, operation, context }: PlaceRequest,
  given: { kind: Kind; name: string; organizationId?: string },
): Promise<Places[Kind]> {
  const { kind, name, organizationId } = given
  const within = organizationId === undefined ? {} : { organizationId }
  if (!isPerson(caller)) {
    const { integration } = caller
    const installed = caller.kind === 'installation' ? { installationId: caller.installationId } : {}
    const found = await findPlacesOf(db, kind, name, { ...within, integration, ...installed })
    const reached =
      caller.kind === 'integration'
        ? await reachedOf(db, caller, found, operation)
        : new Map(found.map((place) => [place, caller.installationId]))
    const place = onlyMatch([...reached.keys()], kind, name, `that ${integration} is installed in`)
    assertOperationScope(caller, operation)
    context.state.usedInstallation = reached.get(place)
    return place
  }
  // An operator may name another organization in the path or the query.
  const own = caller.kind === 'organization' ? ownOf(caller) : { ...ownOf(caller), ...within }
  return onlyMatch(await findPlacesOf(db, kind, name, own), kind, name, 'that you may see')
}

/**
 * The places that the version of an integration's token reaches, with their installations. Its scopes are those of that
 * version: one that the version of the organization's installation does not have is refused.
 *
 * @throws AnnexError `missing_scope`, and the errors of `assertReached`, where no other place has the name
 */
async function reachedOf<Place extends { organizationId: string }>(
  db: Db,
  caller: Extract<Caller, { kind: 'integration' }>,
  places: readonly Place[],
  { scope }: Pick<Operation, 'scope'>,
): Promise<Map<Place, string | undefined>> {
  const { integration } = caller
  const reached = new Map<Place, string | undefined>()
  let refused: unknown
  for (const place of places) {
    try {
      const installed = await findInstalled(db, { integration, organizationId: place.organizationId })
      const running = installed && (await findRunning(db, installed.id))
      if (running !== undefined) await assertReached(db, caller, running)
      if (scope !== undefined) assertScope({ integration, scopes: running?.manifest?.scopes ?? [] }, scope)
      reached.set(place, installed?.id)
    } catch (error) {
      if (!isAnnexError(error)) throw error
      refused = error
    }
  }
  if (reached.size === 0 && refused !== undefined) throw refused
  return reached
}

function onlyMatch<Place>(
  [found, another]: readonly Place[],
  kind: PlaceKind,
  name: string,
  where: string,
): Place {
  if (found === undefined) throw new AnnexError('not_found', `There is no ${kind} ${name} ${where}.`)
  if (another === undefined) return found
  throw new AnnexError(
    'bad_request',
    `Several organizations have a ${kind} "${name}" ${where}. Name it by its id.`,
  )
}

export type OpenIntegration = { row: IntegrationRow; deployed: Deployed | undefined; isOwner: boolean }

/**
 * Finds an integration that a caller may see: its owner, its own script, an organization that has it installed, all for a public
 * one, and for an unlisted one the holder of its install link.
 *
 * @param installKey the key of that link
 * @throws AnnexError `not_found`
 */
export async function openIntegration(
  db: Db,
  caller: Caller,
  name: string,
  installKey?: string,
): Promise<OpenIntegration> {
  const row = await findIntegration(db, name)
  const deployed = row && (await findDeployed(db, row.name))
  const opened = row && { row, deployed, isOwner: ownsIntegration(caller, row) }
  if (opened !== undefined && (await maySeeIntegration(db, caller, opened, installKey))) return opened
  throw new AnnexError('not_found', `There is no integration ${name} that you may see.`)
}

/**
 * Finds an integration for people of its owner.
 *
 * @param what only the owner may do
 * @throws AnnexError `not_found`; `forbidden` for others who may see it
 */
export async function openOwnIntegration(
  db: Db,
  caller: Caller,
  name: string,
  what: string,
): Promise<IntegrationRow> {
  const { row, isOwner } = await openIntegration(db, caller, name)
  if (isOwner) return row
  throw new AnnexError('forbidden', `Only the organization that owns ${name} may ${what}.`)
}

async function maySeeIntegration(
  db: Db,
  caller: Caller,
  { row, deployed, isOwner }: OpenIntegration,
  installKey: string | undefined,
): Promise<boolean> {
  const isOwn = isPerson(caller)
    ? isOwner && mayOpen(caller, row.organizationId)
    : caller.integration === row.name
  if (isOwn) return true
  const visibility = deployed?.manifest.visibility ?? 'private'
  if (visibility === 'public') return true
  if (visibility === 'unlisted' && (await isInstallKey(db, row.name, installKey))) return true
  const { organizationId } = isPerson(caller) ? ownOf(caller) : {}
  if (organizationId === undefined) return false
  return (await findInstalled(db, { integration: row.name, organizationId })) !== undefined
}

/** True for people of the organization that owns an integration, and for operators. */
export const ownsIntegration = (caller: Caller, { organizationId }: IntegrationRow): boolean =>
  caller.kind === 'operator' || (caller.kind === 'organization' && caller.organizationId === organizationId)

/**
 * The filter of a list for an integration's token: the installations that its version reaches. The first page counts for the
 * others as a call that they miss.
 */
export async function reachOf(
  db: Db,
  { caller, query }: { caller: Caller; query: { page?: string } },
  onMissed: (ids: readonly string[]) => void,
): Promise<{ reach?: Reach }> {
  if (caller.kind !== 'integration') return {}
  const { integration } = caller
  const deployedId = (await findIntegration(db, integration))?.versionId
  if (deployedId == null) return {}
  const reach = await readReach(db, integration, { versionId: caller.holder?.versionId, deployedId })
  if (query.page === undefined) onMissed(await listUnreached(db, integration, reach))
  return { reach }
}
