import type Router from '@koa/router'
import type { Context } from 'koa'
import { findRevision, type PageRecord, type Revision, type Space } from '../db/queries/records/spaces.ts'
import { AnnexError } from '../errors/annex-error.ts'
import { namedOrganization, organizationOf } from './caller.ts'
import type { RouteParts } from './parts.ts'
import { toSpace } from './sites.ts'
import { visiblePlace } from './visible-records.ts'

/** A space and its content, for scripts with the scope and for members of its organization. */
export function addSpaceRoutes(router: Router, { db, authenticate }: RouteParts): void {
  /** Scope `space:metadata:read`. */
  router.get('/v1/spaces/:space', async (context) => {
    context.body = toSpace(await readable(context, 'space:metadata:read'))
  })

  /** The current revision with its pages, their text apart. Scope `space:content:read`. */
  router.get('/v1/spaces/:space/content', async (context) => {
    context.body = toRevision(await currentRevision(context))
  })

  /** Scope `space:content:read`. */
  router.get('/v1/spaces/:space/content/pages', async (context) => {
    const { pages } = await currentRevision(context)
    context.body = { pages: pages.map(toPageHead) }
  })

  /** A page with its Markdown. Scope `space:content:read`. 404 when the current revision has no such page. */
  router.get('/v1/spaces/:space/content/page/:page', async (context) => {
    const revision = await currentRevision(context)
    const page = revision.pages.find(({ id }) => id === context.params.page)
    if (page === undefined) {
      throw new AnnexError('not_found', `The revision ${revision.id} has no page ${context.params.page}.`)
    }
    context.body = { ...toPageHead(page), markdown: page.markdown }
  })

  async function currentRevision(context: Context): Promise<Revision> {
    const space = await readable(context, 'space:content:read')
    const revision = space.revisionId === null ? undefined : await findRevision(db, space.revisionId)
    if (revision === undefined) throw new AnnexError('not_found', `The space ${space.id} has no content yet.`)
    return revision
  }

  /** An operator may name the organization of a slug. */
  async function readable(context: Context, scope: string): Promise<Space> {
    const caller = await authenticate(context)
    const named = caller.kind === 'operator' ? namedOrganization(context) : undefined
    const organization = named === undefined ? undefined : await organizationOf(db, caller, named)
    const within = organization && { organizationId: organization.id }
    return visiblePlace(db, caller, { kind: 'space', name: `${context.params.space}`, scope, ...within })
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
