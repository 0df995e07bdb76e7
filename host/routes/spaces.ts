import type Router from '@koa/router'
import type { Caller } from '../access/tokens.ts'
import {
  findRevision,
  findSpace,
  type PageRecord,
  type Revision,
  type Space,
} from '../db/queries/records/spaces.ts'
import { AnnexError } from '../errors/annex-error.ts'
import { assertScriptMayRead } from '../http/script-access.ts'
import type { RouteParts } from './parts.ts'
import { toSpace } from './places.ts'

/** A space and its content, for scripts with the scope and for members of its organization. */
export function addSpaceRoutes(router: Router, { db, authenticate }: RouteParts): void {
  /** Scope `space:metadata:read`. */
  router.get('/v1/spaces/:space', async (context) => {
    context.body = toSpace(
      await readable(await authenticate(context), context.params.space, 'space:metadata:read'),
    )
  })

  /** The current revision with its pages, their text apart. Scope `space:content:read`. */
  router.get('/v1/spaces/:space/content', async (context) => {
    context.body = toRevision(await currentRevision(await authenticate(context), context.params.space))
  })

  /** Scope `space:content:read`. */
  router.get('/v1/spaces/:space/content/pages', async (context) => {
    const { pages } = await currentRevision(await authenticate(context), context.params.space)
    context.body = { pages: pages.map(toPageHead) }
  })

  /** A page with its Markdown. Scope `space:content:read`. 404 when the current revision has no such page. */
  router.get('/v1/spaces/:space/content/page/:page', async (context) => {
    const revision = await currentRevision(await authenticate(context), context.params.space)
    const page = revision.pages.find(({ id }) => id === context.params.page)
    if (page === undefined) {
      throw new AnnexError('not_found', `The revision ${revision.id} has no page ${context.params.page}.`)
    }
    context.body = { ...toPageHead(page), markdown: page.markdown }
  })

  async function currentRevision(caller: Caller, id: string | undefined): Promise<Revision> {
    const space = await readable(caller, id, 'space:content:read')
    const revision = space.revisionId === null ? undefined : await findRevision(db, space.revisionId)
    if (revision === undefined) throw new AnnexError('not_found', `The space ${id} has no content yet.`)
    return revision
  }

  async function readable(caller: Caller, id = '', scope: string): Promise<Space> {
    const space = await findSpace(db, id)
    if (caller.kind === 'integration' || caller.kind === 'installation') {
      await assertScriptMayRead(db, caller, scope, 'space', id)
    }
    const isTheirs = caller.kind !== 'organization' || space?.organizationId === caller.organizationId
    if (space !== undefined && isTheirs) return space
    throw new AnnexError('not_found', `There is no space ${id} that this token may see.`)
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
