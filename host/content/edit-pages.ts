import { createHash } from 'node:crypto'
import type { PageEdit } from '../../schemas/generated/api/content.ts'
import type { Db } from '../db/db.ts'
import { createId } from '../db/ids.ts'
import { findPage, type PageHead, type PageText } from '../db/queries/pages.ts'
import type { Space } from '../db/queries/places.ts'
import type { Revision } from '../db/queries/revisions.ts'
import { AnnexError } from '../errors.ts'
import type { WantedPage } from './plan-revision.ts'
import type { By, ContentWriter } from './write-content.ts'

export type Editing = {
  db: Db
  content: ContentWriter
  space: Space
  by: By
  /** As `writtenBy` of a page. */
  writer: string | null
  /** Gets the tag of the page, undefined for a page that is not there, and throws where the edit is of another version. */
  assertMatch: (tag: string | undefined) => void
}

/** Differs for each version of a page. */
export function pageTag({ id, kind, path, parentId, title, description, digest }: PageHead): string {
  const version = JSON.stringify([id, kind, path, parentId, title, description, digest])
  return `"${createHash('sha256').update(version).digest('base64url').slice(0, 22)}"`
}

/**
 * Changes a page, or makes it where `name` is a path without a page; its title is the path then. Pages of a folder are edited in the folder.
 *
 * @param name id or path
 * @throws AnnexError `conflict`, `not_found`, `body_invalid`
 */
export async function putPage(
  editing: Editing,
  name: string,
  edit: PageEdit,
): Promise<{ id: string; isNew: boolean }> {
  assertEditable(editing.space)
  assertTexts(edit)
  let put = { id: '', isNew: false }
  await write(editing, (current, keep) => {
    const found = findIn(current, name)
    if (found === undefined) assertPath(name)
    editing.assertMatch(found && pageTag(found))
    put = { id: found?.id ?? createId('page'), isNew: found === undefined }
    const next = edit.before === undefined ? undefined : toNext(current, put.id, edit.before)
    const asked = edit.parent === undefined ? undefined : toParent(current, put.id, edit.parent)
    if (next !== undefined && asked !== undefined && asked !== next.parentId) throw notBeside()
    const parent = next === undefined && asked === undefined ? found?.parentId : (next?.parentId ?? asked)
    const page = toEdited(
      found,
      { ...put, path: name, parentId: parent ?? null, writtenBy: editing.writer },
      edit,
      keep,
    )
    const isMoved = edit.index !== undefined || next !== undefined || page.parentId !== found?.parentId
    if (found !== undefined && !isMoved) return current.map((one) => (one.id === page.id ? page : keep(one)))
    return insertAt(current.map(keep), page, next ?? edit.index)
  })
  return put
}

/** Deletes a page with all pages below it. @throws AnnexError `conflict`, `not_found` */
export async function deletePage(editing: Editing, name: string): Promise<void> {
  assertEditable(editing.space)
  await write(editing, (current, keep) => {
    const found = findIn(current, name)
    if (found === undefined) {
      throw new AnnexError('not_found', `The space ${editing.space.id} has no page ${name}.`)
    }
    editing.assertMatch(pageTag(found))
    const gone = withBelow(current, found.id)
    return current.flatMap((page) => (gone.has(page.id) ? [] : [keep(page)]))
  })
}

type Keep = (page: PageHead) => WantedPage

function write(
  { db, content, space, by }: Editing,
  want: (current: PageHead[], keep: Keep) => WantedPage[],
): Promise<Revision | undefined> {
  return content.write(space, by, (current, number) => {
    const keep: Keep = ({ position: _, ...page }) => ({
      ...page,
      readText: async () => {
        const stored = await findPage(db, { spaceId: space.id, number }, page.id)
        return { markdown: stored?.markdown ?? null, document: stored?.document ?? null }
      },
    })
    return want(current, keep)
  })
}

/** @throws AnnexError `conflict` for a space of a folder */
export function assertEditable({ id, folder }: Space): void {
  if (folder === null) return
  const text = `The pages of the space ${id} are files of a folder on the machine of Annex. Edit them there.`
  throw new AnnexError('conflict', text)
}

/** Columns of the database hold neither U+0000 nor half of a surrogate pair. */
function assertTexts({ title, description, markdown }: PageEdit): void {
  for (const [name, text] of Object.entries({ title, description, markdown })) {
    if (text == null || (text.isWellFormed() && !text.includes('\0'))) continue
    const message = 'has U+0000 or half of a surrogate pair'
    const details = [{ path: `/${name}`, message }]
    throw new AnnexError('body_invalid', `The page was not stored: ${name} ${message}.`, { details })
  }
}

const findIn = (current: readonly PageHead[], name: string): PageHead | undefined =>
  current.find(({ id }) => id === name) ?? current.find(({ path }) => path === name)

const longestPath = 500

/** @throws AnnexError `not_found` for the id of no page, `bad_request` */
function assertPath(path: string): void {
  if (/^page_[0-9a-f-]+$/.test(path)) throw new AnnexError('not_found', `There is no page ${path}.`)
  const parts = path.split('/')
  const isPlain = parts.every((part) => part.trim() !== '' && part !== '.' && part !== '..')
  if (isPlain && path.length <= longestPath && !/[\p{C}\\]/u.test(path)) return
  const text = `A path is words joined by "/", up to ${longestPath} characters, such as guides/start.`
  throw new AnnexError('bad_request', text)
}

function toParent(current: readonly PageHead[], id: string, name: string | null): string | null {
  if (name === null) return null
  const parent = findIn(current, name)
  if (parent === undefined || withBelow(current, id).has(parent.id)) {
    const message = 'is the id or path of a page that is not below this one'
    const details = [{ path: '/parent', message }]
    throw new AnnexError('body_invalid', `The JSON body cannot be used: parent ${message}.`, { details })
  }
  return parent.id
}

/** The page that is to come next beside the page. @throws AnnexError `body_invalid` */
function toNext(current: readonly PageHead[], id: string, name: string): PageHead {
  const next = findIn(current, name)
  if (next !== undefined && !withBelow(current, id).has(next.id)) return next
  throw notBeside()
}

function notBeside(): AnnexError {
  const message = 'is the id or path of another page below the same parent, and not below this one'
  const details = [{ path: '/before', message }]
  return new AnnexError('body_invalid', `The JSON body cannot be used: before ${message}.`, { details })
}

function toEdited(
  found: PageHead | undefined,
  made: Pick<PageHead, 'id' | 'path' | 'parentId' | 'writtenBy'>,
  edit: PageEdit,
  keep: Keep,
): WantedPage {
  const title = edit.title ?? found?.title ?? made.path
  const description = edit.description === undefined ? (found?.description ?? null) : edit.description
  const fields = { title, description, parentId: made.parentId }
  const isTextKept = edit.markdown === undefined && edit.document === undefined
  if (found !== undefined && isTextKept) return { ...keep(found), ...fields }
  const document = edit.document === undefined ? null : JSON.stringify(edit.document)
  const text: PageText = { markdown: edit.markdown ?? (document === null ? '' : null), document }
  const digest = createHash('sha256').update(JSON.stringify(text)).digest('hex')
  const path = found?.path ?? made.path
  const writtenBy = digest === found?.digest ? found.writtenBy : toWriter(found?.writtenBy, made.writtenBy)
  return { id: made.id, kind: 'document', path, ...fields, digest, writtenBy, readText: async () => text }
}

/**
 * A person who edits the page of a script leaves its writer.
 *
 * Attack: a script without egress hides a secret in the address of a picture, and waits until a person corrects a word beside it.
 */
function toWriter(before: string | null | undefined, now: string | null): string | null {
  if (before == null || now === null || before === now) return now ?? before ?? null
  return severalWriters
}

/** No installation: the picture of one script is not fetched as that of another. */
const severalWriters = 'several'

/** The page and all below it. Parents come before the pages below them. */
function withBelow(pages: readonly Pick<PageHead, 'id' | 'parentId'>[], id: string): Set<string> {
  const ids = new Set([id])
  for (const page of pages) if (page.parentId !== null && ids.has(page.parentId)) ids.add(page.id)
  return ids
}

/** Moves a page, with all below it, to an index among the pages of its parent, or before one of them. */
function insertAt(
  pages: readonly WantedPage[],
  page: WantedPage,
  place: number | Pick<PageHead, 'id'> = Number.POSITIVE_INFINITY,
): WantedPage[] {
  const moved = withBelow(pages, page.id)
  const others = pages.filter(({ id }) => !moved.has(id))
  const block = [page, ...pages.filter(({ id }) => moved.has(id) && id !== page.id)]
  const beside = others.filter(({ parentId }) => parentId === page.parentId)
  const next = typeof place === 'number' ? beside[place] : beside.find(({ id }) => id === place.id)
  const at = next === undefined ? endOf(others, page.parentId) : others.indexOf(next)
  return [...others.slice(0, at), ...block, ...others.slice(at)]
}

/** The index behind the last page below a parent. */
function endOf(pages: readonly WantedPage[], parentId: string | null): number {
  if (parentId === null) return pages.length
  const below = withBelow(pages, parentId)
  return pages.findLastIndex(({ id }) => below.has(id)) + 1
}
