import { isAbsolute, resolve } from 'node:path'
import type Router from '@koa/router'
import { readSpaceFolder } from '../content/read-space-folder.ts'
import { findOrganization } from '../db/queries/records/organizations.ts'
import { insertSite, listSites, type Site } from '../db/queries/records/sites.ts'
import { insertSpace, listSpaces, type Space } from '../db/queries/records/spaces.ts'
import { AnnexError } from '../errors/annex-error.ts'
import { jsonBody } from './body.ts'
import { nameSchema, titleSchema } from './body-schemas.ts'
import { assertOperator, organizationOf } from './caller.ts'
import type { RouteParts } from './parts.ts'
import { visiblePlace } from './visible-records.ts'

/** The spaces and sites of an organization: what an integration can be installed in. */
export function addPlaceRoutes(router: Router, { db, authenticate, reload }: RouteParts): void {
  router.get('/v1/orgs/:org/spaces', async (context) => {
    const { id } = await organizationOf(db, await authenticate(context), context.params.org)
    const items = (await listSpaces(db, id)).map(toSpace)
    context.body = { items, count: items.length }
  })

  const spaceBody = jsonBody<{ slug: string; title: string; folder: string }>({
    type: 'object',
    required: ['slug', 'title', 'folder'],
    additionalProperties: false,
    properties: {
      slug: nameSchema,
      title: titleSchema,
      folder: { type: 'string', minLength: 1, maxLength: 1000 },
    },
  })
  /**
   * A space is a folder of Markdown on the host's disk, so only operators make one. `folder` is absolute, or
   * relative to where Annex was started. 404 when it is not there.
   */
  router.post('/v1/orgs/:org/spaces', async (context) => {
    const caller = await authenticate(context)
    assertOperator(caller)
    const organization = await organizationOf(db, caller, context.params.org)
    const { slug, title, folder: given } = await spaceBody(context)
    const folder = isAbsolute(given) ? given : resolve(given)
    await readSpaceFolder(folder)
    const space = await insertSpace(db, { organizationId: organization.id, slug, title, folder })
    if (space === undefined)
      throw new AnnexError('conflict', `There is a space "${slug}" in that organization already.`)
    await reload()
    context.status = 201
    context.body = toSpace(space)
  })

  router.get('/v1/orgs/:org/sites', async (context) => {
    const { id } = await organizationOf(db, await authenticate(context), context.params.org)
    const items = (await listSites(db, id)).map(toSite)
    context.body = { items, count: items.length }
  })

  const siteBody = jsonBody<{ slug: string; title: string }>({
    type: 'object',
    required: ['slug', 'title'],
    additionalProperties: false,
    properties: { slug: nameSchema, title: titleSchema },
  })
  router.post('/v1/orgs/:org/sites', async (context) => {
    const organization = await organizationOf(db, await authenticate(context), context.params.org)
    const given = await siteBody(context)
    const site = await insertSite(db, { organizationId: organization.id, ...given })
    if (site === undefined)
      throw new AnnexError('conflict', `There is a site "${given.slug}" in that organization already.`)
    context.status = 201
    context.body = toSite(site)
  })

  /** Scripts need `site:metadata:read`, and an installation in the site. */
  router.get('/v1/orgs/:org/sites/:site', async (context) => {
    const caller = await authenticate(context)
    const { org, site: name = '' } = context.params
    const isPerson = caller.kind === 'operator' || caller.kind === 'organization'
    const organization = isPerson
      ? await organizationOf(db, caller, org)
      : await findOrganization(db, `${org}`)
    const within = organization && { organizationId: organization.id }
    const scope = 'site:metadata:read'
    context.body = toSite(await visiblePlace(db, caller, { kind: 'site', name, scope, ...within }))
  })
}

export function toSpace({ id, organizationId, slug, title, revisionId, createdAt }: Space): object {
  return {
    object: 'space',
    id,
    title,
    slug,
    organization: organizationId,
    revision: revisionId,
    createdAt: new Date(createdAt).toISOString(),
  }
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
