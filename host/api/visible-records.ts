import type { Operation } from '../../schemas/api.ts'
import type { Manifest } from '../../schemas/generated/manifest.ts'
import type { Caller } from '../access/tokens.ts'
import type { Db } from '../db/db.ts'
import {
  findInstallation,
  findTarget,
  type Installation,
  type InstallationTarget,
  type TargetKind,
} from '../db/queries/installations.ts'
import { findPlace, findPlacesOf, type Places } from '../db/queries/places.ts'
import { AnnexError } from '../errors.ts'
import { getDeployed } from '../installations/find-deployed.ts'
import { assertScope } from '../sandbox/host-calls.ts'
import { isPerson } from './caller.ts'

/** An installation with its manifest. */
export type OpenInstallation = { caller: Caller; installation: Installation; manifest: Manifest }

type InstallationRequest = {
  caller: Caller
  params: { integration: string; installation: string }
  operation: Pick<Operation, 'scope'>
}

/** A request for an installation, or for one of its site or space installations. */
export type LevelRequest = InstallationRequest & { params: { site?: string; space?: string } }

/**
 * Finds the installation that a path names.
 *
 * @throws AnnexError `not_found`, also when the caller may not see it; `scope_missing`; `no_version`
 */
export async function openInstallation(
  db: Db,
  { caller, params, operation }: InstallationRequest,
): Promise<OpenInstallation> {
  const installation = await visibleInstallation(db, caller, params.integration, params.installation)
  assertOperationScope(caller, operation)
  return { caller, installation, manifest: (await getDeployed(db, installation.integration)).manifest }
}

/**
 * Finds the level that a path names: an installation, or its site or space installation by the id or slug of the site or
 * space.
 *
 * @throws AnnexError as `openInstallation`
 */
export async function openLevel(
  db: Db,
  request: LevelRequest,
): Promise<OpenInstallation & { target: InstallationTarget | undefined }> {
  const level = await openUndeployed(db, request)
  return { ...level, manifest: (await getDeployed(db, level.installation.integration)).manifest }
}

/** As `openLevel`, also of an integration without a deployed version. */
export async function openUndeployed(
  db: Db,
  { caller, params, operation }: LevelRequest,
): Promise<{ caller: Caller; installation: Installation; target: InstallationTarget | undefined }> {
  const installation = await visibleInstallation(db, caller, params.integration, params.installation)
  assertOperationScope(caller, operation)
  const { site, space } = params
  if (site === undefined && space === undefined) return { caller, installation, target: undefined }
  const kind = site === undefined ? 'space' : 'site'
  const name = site ?? space ?? ''
  const { id, organizationId } = installation
  const targetId = (await findPlace(db, kind, organizationId, name))?.id ?? name
  const target = await findTarget(db, { installationId: id, kind, targetId })
  if (target !== undefined && isThereFor(caller, target)) return { caller, installation, target }
  throw new AnnexError('not_found', `${id} is not installed in the ${kind} ${name}.`)
}

/**
 * Finds an installation by its id. A script sees its own installation, an integration all of its installations, a person
 * those of their organization.
 *
 * @throws AnnexError `not_found`
 */
export async function visibleInstallation(
  db: Db,
  caller: Caller,
  integration: string,
  id: string,
): Promise<Installation> {
  const installation = await findInstallation(db, id)
  if (
    installation !== undefined &&
    installation.integration === integration &&
    maySee(caller, installation) &&
    isThereFor(caller, installation)
  ) {
    return installation
  }
  throw new AnnexError('not_found', `${integration} has no installation ${id} that this token may see.`)
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
  removingAt === null || caller.kind === 'integration' || caller.kind === 'installation'

function maySee(caller: Caller, installation: Installation): boolean {
  switch (caller.kind) {
    case 'operator':
      return true
    case 'organization':
      return caller.organizationId === installation.organizationId
    case 'integration':
      return caller.integration === installation.integration
    case 'installation':
      return caller.installationId === installation.id
  }
}

/**
 * Finds a site or space by its id or slug. A person sees those of their organization, a script those that it is installed
 * in.
 *
 * @param given.organizationId limits the search to one organization
 * @throws AnnexError `not_found`; `missing_scope` for a script that reaches it without the operation's scope; `bad_request`
 *   where several have the slug
 */
export async function visiblePlace<Kind extends TargetKind>(
  db: Db,
  caller: Caller,
  operation: Pick<Operation, 'scope'>,
  given: { kind: Kind; name: string; organizationId?: string },
): Promise<Places[Kind]> {
  const { kind, name, organizationId } = given
  const within = organizationId === undefined ? {} : { organizationId }
  if (caller.kind === 'integration' || caller.kind === 'installation') {
    const { integration } = caller
    const installed = caller.kind === 'installation' ? { installationId: caller.installationId } : {}
    const found = await findPlacesOf(db, kind, name, { ...within, integration, ...installed })
    const place = onlyMatch(found, kind, name, `that ${integration} is installed in`)
    assertOperationScope(caller, operation)
    return place
  }
  const own = caller.kind === 'organization' ? { organizationId: caller.organizationId } : within
  return onlyMatch(await findPlacesOf(db, kind, name, own), kind, name, 'that this token may see')
}

function onlyMatch<Place>([found, another]: Place[], kind: TargetKind, name: string, where: string): Place {
  if (found === undefined) throw new AnnexError('not_found', `There is no ${kind} ${name} ${where}.`)
  if (another === undefined) return found
  throw new AnnexError(
    'bad_request',
    `Several organizations have a ${kind} "${name}" ${where}. Name it by its id.`,
  )
}
