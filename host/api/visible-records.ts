import type { Caller } from '../access/tokens.ts'
import type { Db } from '../db/db.ts'
import type { TargetKind } from '../db/queries/installed/installation-targets.ts'
import { findInstallation, type Installation } from '../db/queries/installed/installations.ts'
import { findPlacesOf, type Places } from '../db/queries/records/named-places.ts'
import { AnnexError } from '../errors/annex-error.ts'
import { assertScope } from '../sandbox/host-calls.ts'

/**
 * The site or space that a caller names by its id or slug: a person one of their organization, a script one that it is
 * installed in.
 *
 * @param organizationId looked through alone
 * @throws AnnexError `scope_missing`, which names the scope; `not_found`; `bad_request` where several have the slug
 */
export async function visiblePlace<Kind extends TargetKind>(
  db: Db,
  caller: Caller,
  { kind, name, scope, organizationId }: { kind: Kind; name: string; scope: string; organizationId?: string },
): Promise<Places[Kind]> {
  const within = organizationId === undefined ? {} : { organizationId }
  if (caller.kind === 'integration' || caller.kind === 'installation') {
    assertScope(caller, scope)
    const { integration } = caller
    const installed = caller.kind === 'installation' ? { installationId: caller.installationId } : {}
    const found = await findPlacesOf(db, kind, name, { ...within, integration, ...installed })
    return theOne(found, kind, name, `that ${integration} is installed in`)
  }
  const theirs = caller.kind === 'organization' ? { organizationId: caller.organizationId } : within
  return theOne(await findPlacesOf(db, kind, name, theirs), kind, name, 'that this token may see')
}

function theOne<Place>([found, another]: Place[], kind: TargetKind, name: string, where: string): Place {
  if (found === undefined) throw new AnnexError('not_found', `There is no ${kind} ${name} ${where}.`)
  if (another === undefined) return found
  throw new AnnexError(
    'bad_request',
    `Several organizations have a ${kind} "${name}" ${where}. Name it by its id.`,
  )
}

/**
 * The installation, when the caller may see it: a script its own, an integration all of its own, a person those
 * of their organization.
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
    maySee(caller, installation)
  ) {
    return installation
  }
  throw new AnnexError('not_found', `${integration} has no installation ${id} that this token may see.`)
}

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
