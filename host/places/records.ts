import type { Origin } from '../access/actor.ts'
import type { SecretBox } from '../access/secret-box.ts'
import type { Db } from '../db/db.ts'
import { isDuplicate } from '../db/errors.ts'
import { type NamedKind, replaceExternalIds } from '../db/queries/external-ids.ts'
import type { PlaceKind } from '../db/queries/installations.ts'
import { listIntegrationsOf } from '../db/queries/integrations.ts'
import {
  type DeletedWith,
  deleteOrganizationRows,
  insertOrganization,
  lockOrganization,
  type Organization,
  updateOrganization,
} from '../db/queries/organizations.ts'
import {
  deletePlaceRows,
  insertSite,
  insertSpace,
  lockPlace,
  type PlaceChange,
  type Places,
  type Site,
  updatePlace,
  updateSite,
} from '../db/queries/places.ts'
import { type Holder, listHoldersOfOrganization, listHoldersOfPlace } from '../db/queries/uninstall.ts'
import { transact } from '../db/sql.ts'
import { AnnexError } from '../errors.ts'
import { installInNew } from '../installations/selection.ts'
import { type AuditAction, recordAudit } from '../logs/audit.ts'

/** Ids of other platforms, set with a record. */
type WithExternalIds = { externalIds?: readonly string[] }

export type PlaceEdit = PlaceChange & WithExternalIds

/** @throws AnnexError `conflict` when the subdomain or an external id is taken */
export function createOrganization(
  db: Db,
  origin: Origin,
  { externalIds = [], ...given }: { subdomain: string; title: string } & WithExternalIds,
): Promise<Organization> {
  return transact(db, async (transaction) => {
    const created = await insertOrganization(transaction, given)
    if (created === undefined) throw takenSubdomain(given.subdomain)
    await nameExternally(transaction, { kind: 'organization', recordId: created.id, externalIds })
    await record(transaction, origin, 'organization.create', created.id, { after: { ...given, externalIds } })
    return created
  })
}

/** @throws AnnexError `not_found`, `conflict` when the subdomain or an external id is taken */
export async function changeOrganization(
  db: Db,
  origin: Origin,
  id: string,
  { externalIds, ...change }: Partial<Pick<Organization, 'subdomain' | 'title'>> & WithExternalIds,
): Promise<Organization> {
  return transact(db, async (transaction) => {
    const organization = await lockOrganization(transaction, id)
    if (organization === undefined) throw gone('organization', id)
    await updateOrganization(transaction, id, change).catch(refuseDuplicate('organization', change.subdomain))
    await nameExternally(transaction, { kind: 'organization', recordId: id, externalIds })
    const { subdomain, title } = organization
    await record(transaction, origin, 'organization.change', id, {
      before: { subdomain, title },
      after: { ...change, ...(externalIds && { externalIds }) },
    })
    return { ...organization, ...change }
  })
}

/**
 * Deletes an organization with its sites, spaces, members, tokens and events. Its integrations and installations must be gone
 * before: their scripts get a last event, and their folders would load them again.
 *
 * @throws AnnexError `not_found`, `conflict`
 */
export async function deleteOrganization(db: Db, origin: Origin, id: string): Promise<DeletedWith> {
  return transact(db, async (transaction) => {
    const organization = await lockOrganization(transaction, id)
    if (organization === undefined) throw gone('organization', id)
    const owned = await listIntegrationsOf(transaction, id)
    if (owned.length > 0) {
      const text = `The organization ${id} owns the integrations ${owned.join(', ')}. Remove their folders first, and prune them.`
      throw new AnnexError('conflict', text)
    }
    assertUninstalled('organization', id, await listHoldersOfOrganization(transaction, id))
    const deleted = await deleteOrganizationRows(transaction, id)
    const { subdomain, title } = organization
    await record(transaction, origin, 'organization.delete', id, { before: { subdomain, title, ...deleted } })
    return deleted
  })
}

type NewPlace<Kind extends PlaceKind> = Parameters<
  Kind extends 'space' ? typeof insertSpace : typeof insertSite
>[1] &
  WithExternalIds

/**
 * Creates a site or space, and installs the integrations there that select all of its kind.
 *
 * @throws AnnexError `conflict` when the slug or an external id is taken in the organization
 */
export function createPlace<Kind extends PlaceKind>(
  db: Db,
  box: SecretBox,
  kind: Kind,
  { externalIds = [], ...given }: NewPlace<Kind>,
  origin: Origin,
): Promise<Places[Kind]> {
  const { organizationId, slug } = given
  return transact(db, async (transaction) => {
    const insert = kind === 'space' ? insertSpace : insertSite
    const created = await insert(transaction, given as never)
    if (created === undefined) throw takenSlug(kind, slug)
    await nameExternally(transaction, { kind, organizationId, recordId: created.id, externalIds })
    const { title, visibility, url } = created
    const after = { slug, title, visibility, url, externalIds }
    await record(transaction, origin, `${kind}.create`, created.id, { organizationId, after })
    await installInNew(transaction, box, kind, created, origin)
    return created as Places[Kind]
  })
}

/**
 * @param alsoStore stores more in the same transaction
 * @throws AnnexError `not_found`, `conflict` when the slug or an external id is taken in the organization
 */
export async function changePlace<Kind extends PlaceKind>(
  db: Db,
  origin: Origin,
  kind: Kind,
  id: string,
  { externalIds, ...change }: PlaceEdit,
  alsoStore: (transaction: Db, before: Places[Kind]) => Promise<void> = async () => {},
): Promise<Places[Kind]> {
  return transact(db, async (transaction) => {
    const place = await lockPlace(transaction, kind, id)
    if (place === undefined) throw gone(kind, id)
    await updatePlace(transaction, kind, id, change).catch(refuseDuplicate(kind, change.slug))
    const { organizationId } = place
    await nameExternally(transaction, { kind, organizationId, recordId: id, externalIds })
    const { slug, title, visibility, url } = place
    await record(transaction, origin, `${kind}.change`, id, {
      ...{ organizationId, before: { slug, title, visibility, url } },
      after: { ...change, ...(externalIds && { externalIds }) },
    })
    await alsoStore(transaction, place)
    return { ...place, ...change }
  })
}

/**
 * Deletes a site, or a space with its revisions. Events and deliveries stay until they are pruned.
 *
 * @throws AnnexError `not_found`; `conflict` while an integration is installed there: its script gets a last event first
 */
export async function deletePlace(
  db: Db,
  origin: Origin,
  kind: PlaceKind,
  id: string,
): Promise<{ revisions: number }> {
  return transact(db, async (transaction) => {
    const place = await lockPlace(transaction, kind, id)
    if (place === undefined) throw gone(kind, id)
    assertUninstalled(kind, id, await listHoldersOfPlace(transaction, kind, id))
    const deleted = await deletePlaceRows(transaction, kind, id)
    const { organizationId, slug, title } = place
    const before = { slug, title, ...deleted }
    await record(transaction, origin, `${kind}.delete`, id, { organizationId, before })
    return deleted
  })
}

/** Records a change of an organization, site or space. `organizationId`: default is the record itself. */
function record(
  transaction: Db,
  origin: Origin,
  action: Extract<AuditAction, `${NamedKind}.${string}`>,
  id: string,
  { organizationId = id, ...change }: { organizationId?: string; before?: object; after?: object },
): Promise<void> {
  const kind = action.split('.')[0] ?? ''
  return recordAudit(transaction, origin, { action, organizationId, subject: { kind, id }, ...change })
}

type SiteChange = Partial<Pick<Site, 'publicKey' | 'origins' | 'viewCookies' | 'adaptiveSchema'>>

/**
 * Changes what pages and visitors of a site may send.
 *
 * @param assertFresh gets the site as it is before the change, and throws for one that must not be replaced
 * @throws AnnexError `not_found`
 */
export async function changeSite(
  db: Db,
  { id }: Pick<Site, 'id'>,
  change: SiteChange,
  origin: Origin,
  assertFresh?: (before: Site) => void,
): Promise<void> {
  await transact(db, async (transaction) => {
    const site = await lockPlace(transaction, 'site', id)
    if (site === undefined) throw gone('site', id)
    assertFresh?.(site)
    await updateSite(transaction, id, change)
    const before = Object.fromEntries(
      Object.keys(change).map((name) => [name, site[name as keyof SiteChange]]),
    )
    const { organizationId } = site
    await record(transaction, origin, 'site.change', site.id, { organizationId, before, after: change })
  })
}

/** @throws AnnexError `conflict`, with the installations */
function assertUninstalled(kind: NamedKind, id: string, holders: readonly Holder[]): void {
  if (holders.length === 0) return
  const list = holders.map(
    (one) => `${one.integration} (${one.id}${one.removingAt === null ? '' : ', being uninstalled'})`,
  )
  const text = `The ${kind} ${id} has installations: ${list.join(', ')}. Uninstall them first; their scripts get a last event.`
  throw new AnnexError('conflict', text)
}

/** @throws AnnexError `conflict` */
async function nameExternally(
  transaction: Db,
  given: { kind: NamedKind; organizationId?: string; recordId: string } & {
    externalIds: readonly string[] | undefined
  },
): Promise<void> {
  const { externalIds, ...record } = given
  if (externalIds === undefined) return
  const taken = await replaceExternalIds(transaction, { ...record, externalIds })
  if (taken === undefined) return
  throw new AnnexError('conflict', `Another ${record.kind} has the external id "${taken}" already.`, {
    details: [{ path: '/externalIds', message: taken }],
  })
}

const gone = (kind: NamedKind, id: string): AnnexError =>
  new AnnexError('not_found', `There is no ${kind} ${id} any more.`)

const takenSubdomain = (subdomain: string): AnnexError =>
  new AnnexError('conflict', `There is an organization "${subdomain}" already.`)

const takenSlug = (kind: PlaceKind, slug: string): AnnexError =>
  new AnnexError('conflict', `There is a ${kind} "${slug}" in that organization already.`)

/** @throws AnnexError `conflict` in place of the database's error */
function refuseDuplicate(kind: NamedKind, name: string | undefined): (error: unknown) => never {
  return (error) => {
    if (!isDuplicate(error) || name === undefined) throw error
    throw kind === 'organization' ? takenSubdomain(name) : takenSlug(kind, name)
  }
}
