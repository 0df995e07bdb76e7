import type Router from '@koa/router'
import type { Db } from '../db/db.ts'
import { findOrganization } from '../db/queries/organizations.ts'
import { insertSite, listSites, type Site } from '../db/queries/places.ts'
import { AnnexError } from '../errors.ts'
import { jsonBody, nameSchema, titleSchema } from './body.ts'
import { type Authenticate, organizationOf } from './caller.ts'
import { visiblePlace } from './visible-records.ts'

export type SiteParts = { db: Db; authenticate: Authenticate }

const siteBody = jsonBody<{ slug: string; title: string }>({
  type: 'object',
  required: ['slug', 'title'],
  additionalProperties: false,
  properties: { slug: nameSchema, title: titleSchema },
})

/** The sites of an organization. */
export function addSiteRoutes(router: Router, { db, authenticate }: SiteParts): void {
  /** Lists the sites of an organization. For its members and operators. */
  router.get('/v1/orgs/:org/sites', async (context) => {
    const { id } = await organizationOf(db, await authenticate(context), context.params.org)
    const items = (await listSites(db, id)).map(toSite)
    context.body = { items, count: items.length }
  })

  /** `{ slug, title }`: makes a site. 201; 409 when the slug is taken. For members and operators. */
  router.post('/v1/orgs/:org/sites', async (context) => {
    const organization = await organizationOf(db, await authenticate(context), context.params.org)
    const given = await siteBody(context)
    const site = await insertSite(db, { organizationId: organization.id, ...given })
    if (site === undefined)
      throw new AnnexError('conflict', `There is a site "${given.slug}" in that organization already.`)
    context.status = 201
    context.body = toSite(site)
  })

  /** One site by its id or slug. A script needs the scope `site:metadata:read` and an installation in the site. */
  router.get('/v1/orgs/:org/sites/:site', async (context) => {
    const caller = await authenticate(context)
    const { org, site: name = '' } = context.params
    const isPerson = caller.kind === 'operator' || caller.kind === 'organization'
    const organization = isPerson
      ? await organizationOf(db, caller, org)
      : await findOrganization(db, `${org}`)
    const site = await visiblePlace(db, caller, {
      kind: 'site',
      name,
      scope: 'site:metadata:read',
      ...(organization && { organizationId: organization.id }),
    })
    context.body = toSite(site)
  })
}

function toSite({ id, organizationId, slug, title, createdAt }: Site): object {
  return {
    object: 'site',
    id,
    title,
    slug,
    organization: organizationId,
    createdAt: new Date(createdAt).toISOString(),
  }
}
