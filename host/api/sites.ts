import type { Site as SiteView } from '../../schemas/generated/api/sites.ts'
import type { Caller } from '../access/tokens.ts'
import type { Db } from '../db/db.ts'
import { findOrganization } from '../db/queries/organizations.ts'
import { insertSite, listSites, type Site } from '../db/queries/places.ts'
import { AnnexError } from '../errors.ts'
import { isPerson, organizationOf } from './caller.ts'
import type { OnOperation, OperationRequest } from './operations.ts'
import { visiblePlace } from './visible-records.ts'

export type SiteParts = { db: Db }

type SiteRequest = Pick<OperationRequest<'getSiteById'>, 'params' | 'operation'> & { caller: Caller }

/** The sites of an organization. */
export function addSiteRoutes(on: OnOperation, { db }: SiteParts): void {
  on('listSites', async ({ caller, params }) => {
    const { id } = await organizationOf(db, caller, params.org)
    const items = (await listSites(db, id)).map(toSite)
    return { items, count: items.length }
  })

  on('createSite', async ({ caller, params, body }) => {
    const organization = await organizationOf(db, caller, params.org)
    const site = await insertSite(db, { organizationId: organization.id, ...body })
    if (site !== undefined) return toSite(site)
    throw new AnnexError('conflict', `There is a site "${body.slug}" in that organization already.`)
  })

  on('getSiteById', async (request) => toSite(await openSite(db, request)))
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

function toSite({ id, organizationId, slug, title, createdAt }: Site): SiteView {
  return {
    object: 'site',
    id,
    title,
    slug,
    organization: organizationId,
    createdAt: new Date(createdAt).toISOString(),
  }
}
