import type { Site as SiteView } from '../../schemas/generated/api/sites.ts'
import type { Caller } from '../access/tokens.ts'
import type { Db } from '../db/db.ts'
import { withExternalIds, withExternalIdsOf } from '../db/queries/external-ids.ts'
import { findOrganization } from '../db/queries/organizations.ts'
import { listSites, type Site } from '../db/queries/places.ts'
import { changePlace, createPlace, deletePlace } from '../installations/records.ts'
import { isPerson, organizationOf } from './caller.ts'
import { toIso } from './list-query.ts'
import type { OnOperation, OperationRequest } from './operations.ts'
import { visiblePlace } from './visible-records.ts'

export type SiteParts = { db: Db; prepareDispatch: { forget: () => void } }

type SiteRequest = Pick<OperationRequest<'getSiteById'>, 'params' | 'operation'> & { caller: Caller }

/** The sites of an organization. */
export function addSiteRoutes(on: OnOperation, { db, prepareDispatch }: SiteParts): void {
  const view = async (site: Site) => toView(await withExternalIdsOf(db, site))

  on('listSites', async ({ caller, params }) => {
    const { id } = await organizationOf(db, caller, params.org)
    const items = (await withExternalIds(db, await listSites(db, id))).map(toView)
    return { items, count: items.length }
  })

  on('createSite', async ({ caller, params, body }) => {
    const { id: organizationId } = await organizationOf(db, caller, params.org)
    return view(await createPlace(db, 'site', { ...body, organizationId }))
  })

  on('getSiteById', async (request) => view(await openSite(db, request)))

  on('updateSiteById', async (request) => {
    const { id } = await openSite(db, request)
    const changed = await changePlace(db, 'site', id, request.body)
    prepareDispatch.forget()
    return view(changed)
  })

  on('deleteSiteById', async (request) => {
    const { id } = await openSite(db, request)
    await deletePlace(db, 'site', id)
    prepareDispatch.forget()
    return { object: 'site', id, deleted: {} }
  })
}

/** The site that a request names. */
export async function openSite(db: Db, { caller, params, operation }: SiteRequest): Promise<Site> {
  const organization = isPerson(caller)
    ? await organizationOf(db, caller, params.org)
    : await findOrganization(db, params.org)
  return visiblePlace(db, caller, operation, {
    kind: 'site',
    name: params.site,
    ...(organization && { organizationId: organization.id }),
  })
}

function toView({ id, organizationId, createdAt, ...site }: Site & { externalIds: string[] }): SiteView {
  const { title, slug, visibility, externalIds } = site
  return {
    object: 'site',
    id,
    title,
    slug,
    organization: organizationId,
    visibility,
    externalIds,
    createdAt: toIso(createdAt),
  }
}
