import type { Context } from 'koa'
import type { PageChange, Page as PageView } from '../../schemas/generated/api/content.ts'
import { actorOf } from '../access/actor.ts'
import type { Caller } from '../access/tokens.ts'
import { deletePage, type Editing, pageTag, putPage } from '../content/edit-pages.ts'
import { restoreRevision } from '../content/restore-revision.ts'
import type { ContentWriter } from '../content/write-content.ts'
import type { Db } from '../db/db.ts'
import {
  type ChangedPage,
  findPage,
  listChangedPages,
  listPages,
  listPagesBetween,
  type PageHead,
  type PageText,
} from '../db/queries/pages.ts'
import {
  type Author,
  findCurrentRevision,
  findRevision,
  findRevisionBefore,
  listRevisions,
  type Revision,
} from '../db/queries/revisions.ts'
import type { PictureKeys } from '../dispatches/picture-keys.ts'
import { AnnexError } from '../errors.ts'
import { isPerson, originOf } from './caller.ts'
import { createDrawPage } from './draw-page.ts'
import { readIfMatchOrNew } from './if-match.ts'
import { listPage, numberCursor, toIso } from './list-query.ts'
import type { OnOperation } from './operations.ts'
import { openSpace, type SpaceRequest } from './spaces.ts'

type ContentRouteParts = {
  db: Db
  reader: Db
  longReader: Db
  content: ContentWriter
  pictureKeys: PictureKeys
}

/** Pages of spaces, in each kept revision. */
export function addContentRoutes(on: OnOperation, parts: ContentRouteParts): void {
  const { db, reader, longReader, content } = parts
  const draw = createDrawPage(parts)

  on('GET /v1/spaces/{space}/content', async (request) => withPages(await current(request)))
  on('GET /v1/spaces/{space}/revisions/{revision}', async (request) => withPages(await named(request)))

  on('GET /v1/spaces/{space}/content/pages', async (request) => ({
    pages: await treeOf(await current(request)),
  }))
  on('GET /v1/spaces/{space}/revisions/{revision}/pages', async (request) => ({
    pages: await treeOf(await named(request)),
  }))

  on('GET /v1/spaces/{space}/content/page/{page}', async (request) => pageOf(request, await current(request)))
  on('GET /v1/spaces/{space}/revisions/{revision}/page/{page}', async (request) =>
    pageOf(request, await named(request)),
  )

  on('GET /v1/spaces/{space}/revisions', async (request) => {
    const space = await openSpace(reader, request)
    return listPage(request, {
      cursor: numberCursor,
      cursorOf: ({ number }) => String(number),
      read: ({ after, limit }) =>
        listRevisions(longReader, space.id, { limit, ...(after !== undefined && { before: Number(after) }) }),
      toView: toRevisionHead,
    })
  })

  on('GET /v1/spaces/{space}/revisions/{revision}/changes', async (request) => {
    const revision = await named(request)
    const { limit, since } = request.query
    const older =
      since === undefined
        ? await findRevisionBefore(reader, revision)
        : await named({ ...request, params: { ...request.params, revision: since } })
    const changed =
      since === undefined || older === undefined
        ? await listChangedPages(longReader, toKey(revision))
        : await listPagesBetween(longReader, toKey(revision), older.number)
    const more = changed.length - limit
    return {
      ...(older && { since: older.id }),
      changes: changed.slice(0, limit).map(toChange),
      ...(more > 0 && { more }),
    }
  })

  on('POST /v1/spaces/{space}/content/preview', async (request) => {
    const space = await openSpace(reader, request)
    const { markdown, page: name } = request.body
    const revision = name === undefined ? undefined : await findCurrentRevision(reader, space.id)
    const page = revision && (await findPage(reader, toKey(revision), name ?? ''))
    return { tree: await draw(space.id, { markdown, writtenBy: page?.writtenBy ?? null }) }
  })

  on('POST /v1/spaces/{space}/revisions/{revision}/restore', async (request) => {
    const space = await openSpace(db, request)
    const revision = await named(request)
    const by = { author: authorOf(request.caller), origin: originOf(request) }
    const made = await restoreRevision({ db, content, space, by }, revision)
    return toRevisionHead(made ?? (await current(request)))
  })

  on('PUT /v1/spaces/{space}/content/page/{page}', async (request) => {
    const { params, body, context } = request
    const editing = await openEditing(request)
    const put = await putPage(editing, params.page, body)
    const revision = await findCurrentRevision(db, editing.space.id)
    const page = revision && (await findPage(db, toKey(revision), put.id))
    if (revision === undefined || page === undefined) {
      throw new AnnexError('not_found', `The page ${put.id} is deleted by now.`)
    }
    if (put.isNew) context.status = 201
    context.set('etag', pageTag(page))
    return { ...toPageView(page), revision: revision.id }
  })

  on('DELETE /v1/spaces/{space}/content/page/{page}', async (request) => {
    await deletePage(await openEditing(request), request.params.page)
    return undefined
  })

  async function current(request: SpaceRequest): Promise<Revision> {
    const space = await openSpace(reader, request)
    const revision = await findCurrentRevision(reader, space.id)
    if (revision === undefined) throw new AnnexError('not_found', `The space ${space.id} has no content yet.`)
    return revision
  }

  async function named(request: SpaceRequest & { params: { revision: string } }): Promise<Revision> {
    const space = await openSpace(reader, request)
    const revision = await findRevision(reader, space.id, request.params.revision)
    if (revision !== undefined) return revision
    const text = `The space ${space.id} has no revision ${request.params.revision}, or no longer keeps it.`
    throw new AnnexError('not_found', text)
  }

  async function withPages(revision: Revision) {
    return { ...toRevisionHead(revision), pages: await treeOf(revision) }
  }

  async function treeOf(revision: Revision): Promise<PageView[]> {
    return toTree(await listPages(longReader, toKey(revision)))
  }

  async function pageOf({ params, query, context }: PageRequest & TreeQuery, revision: Revision) {
    const page = await findPage(reader, toKey(revision), params.page)
    if (page === undefined) {
      throw new AnnexError('not_found', `The revision ${revision.id} has no page ${params.page}.`)
    }
    context.set('etag', pageTag(page))
    const { markdown, writtenBy } = page
    const isDrawn = query.tree === true && markdown !== null
    return {
      ...toPageView(page),
      ...(isDrawn && { tree: await draw(revision.spaceId, { markdown, writtenBy }) }),
    }
  }

  /** People send `If-Match` for a page that is there: two of them may edit it. */
  async function openEditing(request: PageRequest): Promise<Editing> {
    const { caller, context } = request
    return {
      ...{ db, content, space: await openSpace(db, request) },
      by: { author: authorOf(caller), origin: originOf(request) },
      writer: isPerson(caller)
        ? null
        : 'installationId' in caller
          ? caller.installationId
          : caller.integration,
      assertMatch: readIfMatchOrNew(context, caller),
    }
  }
}

type TreeQuery = { query: { tree?: boolean } }
type PageRequest = SpaceRequest & { params: { page: string }; context: Context }

const toKey = ({ spaceId, number }: Revision) => ({ spaceId, number })

/** A person is named by the member, or by the token that belongs to no member. */
function authorOf(caller: Caller): Author {
  if (isPerson(caller)) return { type: 'user', id: actorOf(caller).id ?? '' }
  return { type: 'integration', id: caller.integration }
}

const toRevisionHead = ({ id, spaceId, number, author, createdAt }: Revision) => ({
  object: 'revision' as const,
  id,
  type: number === 1 ? ('initial' as const) : ('edits' as const),
  // Annex has no change requests that a revision could be merged from.
  mergedFrom: null,
  number,
  space: spaceId,
  author,
  createdAt: toIso(createdAt),
})

const toPageHead = ({ id, kind, title, description, path, parentId }: PageHead) => ({
  object: 'page' as const,
  id,
  type: kind,
  title,
  ...(description !== null && { description }),
  path,
  slug: path.split('/').at(-1) ?? path,
  ...(parentId !== null && { parent: parentId }),
})

/** Parents come before the pages below them. */
function toTree(pages: readonly PageHead[]): PageView[] {
  const views = new Map(pages.map((page) => [page.id, { ...toPageHead(page), pages: [] as PageView[] }]))
  const top: PageView[] = []
  for (const { id, parentId } of pages) {
    const view = views.get(id)
    if (view !== undefined) (views.get(parentId ?? '')?.pages ?? top).push(view)
  }
  return top
}

const toPageView = ({ markdown, document, ...head }: PageHead & PageText) => ({
  ...toPageHead(head),
  ...(markdown !== null && { markdown }),
  ...(document !== null && { document: JSON.parse(document) }),
})

function toChange({ before, after }: ChangedPage): PageChange {
  const page = toPageHead((after ?? before) as PageHead)
  if (before === undefined) return { type: 'page_created', page }
  if (after === undefined) return { type: 'page_deleted', page }
  const isEdited = (['title', 'description', 'digest', 'kind'] as const).some(
    (name) => before[name] !== after[name],
  )
  return { type: isEdited ? 'page_edited' : 'page_moved', page }
}
