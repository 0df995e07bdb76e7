import { isAbsolute, resolve } from 'node:path'
import type Router from '@koa/router'
import type { Context } from 'koa'
import { readSpaceFolder } from '../content/read-space-folder.ts'
import type { Db } from '../db/db.ts'
import {
  findRevision,
  insertSpace,
  listSpaces,
  type PageRecord,
  type Revision,
  type Space,
} from '../db/queries/places.ts'
import { AnnexError } from '../errors.ts'
import { jsonBody, nameSchema, titleSchema } from './body.ts'
import { type Authenticate, assertOperator, namedOrganization, organizationOf } from './caller.ts'
import { visiblePlace } from './visible-records.ts'

export type SpaceParts = {
  db: Db
  authenticate: Authenticate
  /** Reads all plugin folders and spaces again. */
  reload: () => Promise<unknown>
}

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

/** Spaces and their content, for members of the organization and for scripts with the scope. */
export function addSpaceRoutes(router: Router, { db, authenticate, reload }: SpaceParts): void {
  /** Lists the spaces of an organization. For its members and operators. */
  router.get('/v1/orgs/:org/spaces', async (context) => {
    const { id } = await organizationOf(db, await authenticate(context), context.params.org)
    const items = (await listSpaces(db, id)).map(toSpace)
    context.body = { items, count: items.length }
  })

  /**
   * `{ slug, title, folder }`: makes a space of a folder of Markdown on the host's disk, so operators only. `folder` is
   * absolute, or relative to the working directory of Annex. 404 when it is not there; 409 when the slug is taken.
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

  /** One space by its id or slug. Scope `space:metadata:read`. */
  router.get('/v1/spaces/:space', async (context) => {
    context.body = toSpace(await openSpace(context, 'space:metadata:read'))
  })

  /** The current revision with its pages, without their text. Scope `space:content:read`. 404 without content. */
  router.get('/v1/spaces/:space/content', async (context) => {
    context.body = toRevision(await currentRevision(context))
  })

  /** The pages of the current revision, without their text. Scope `space:content:read`. */
  router.get('/v1/spaces/:space/content/pages', async (context) => {
    const { pages } = await currentRevision(context)
    context.body = { pages: pages.map(toPageHead) }
  })

  /** One page with its Markdown. Scope `space:content:read`. 404 when the current revision has no such page. */
  router.get('/v1/spaces/:space/content/page/:page', async (context) => {
    const revision = await currentRevision(context)
    const page = revision.pages.find(({ id }) => id === context.params.page)
    if (page === undefined) {
      throw new AnnexError('not_found', `The revision ${revision.id} has no page ${context.params.page}.`)
    }
    context.body = { ...toPageHead(page), markdown: page.markdown }
  })

  async function currentRevision(context: Context): Promise<Revision> {
    const space = await openSpace(context, 'space:content:read')
    const revision = space.revisionId === null ? undefined : await findRevision(db, space.revisionId)
    if (revision === undefined) throw new AnnexError('not_found', `The space ${space.id} has no content yet.`)
    return revision
  }

  /** An operator may name the organization of a slug by `?organization=`. */
  async function openSpace(context: Context, scope: string): Promise<Space> {
    const caller = await authenticate(context)
    const named = caller.kind === 'operator' ? namedOrganization(context) : undefined
    const organization = named === undefined ? undefined : await organizationOf(db, caller, named)
    return visiblePlace(db, caller, {
      kind: 'space',
      name: `${context.params.space}`,
      scope,
      ...(organization && { organizationId: organization.id }),
    })
  }
}

function toSpace({ id, organizationId, slug, title, revisionId, createdAt }: Space): object {
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

function toRevision({ id, spaceId, createdAt, pages }: Revision): object {
  return {
    object: 'revision',
    id,
    space: spaceId,
    createdAt: new Date(createdAt).toISOString(),
    pages: pages.map(toPageHead),
  }
}

function toPageHead({ id, title, path }: PageRecord): object {
  return { object: 'page', id, type: 'document', title, path, slug: path.split('/').at(-1) }
}
