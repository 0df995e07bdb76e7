import type { Knex } from 'knex'
import type { Db } from '../db.ts'
import { forEachInserted, forEachRow } from '../json-rows.ts'
import { rawRows } from '../sql.ts'
import { addContentBytes, rowBytes, textBytes } from './content-bytes.ts'

/** A page without its text. A group has pages below it, and no text. */
export type PageHead = {
  id: string
  kind: 'document' | 'group'
  path: string
  parentId: string | null
  /** Orders all pages of a revision, each before the pages below it. */
  position: number
  title: string
  description: string | null
  /** Of the whole file, or of what the API was given. */
  digest: string
  /** The installation whose script wrote the text, or a part of it. Null: people or a folder did. */
  writtenBy: string | null
}

/** The text of a page: Markdown, or a document as JSON text. */
export type PageText = { markdown: string | null; document: string | null }

/** A revision by its number in the space. */
export type RevisionKey = { spaceId: string; number: number }

const headColumns = [
  ...(['id', 'kind', 'path', 'parentId', 'position', 'title', 'description', 'digest', 'writtenBy'] as const),
] as const

/** The pages of a revision in their order. */
export async function listPages(db: Db, revision: RevisionKey): Promise<PageHead[]> {
  return pagesIn(db, revision).select(headColumns).orderBy('position')
}

/** A page of a revision by its id or path. Where a path is like another page's id, the id wins. */
export async function findPage(
  db: Db,
  revision: RevisionKey,
  name: string,
): Promise<(PageHead & PageText) | undefined> {
  const found: (PageHead & PageText)[] = await pagesIn(db, revision)
    .where((either) => either.where({ id: name }).orWhere({ path: name }))
    .select(...headColumns, 'markdown', 'document')
  return found.find(({ id }) => id === name) ?? found[0]
}

function pagesIn(db: Db, { spaceId, number }: RevisionKey): Knex.QueryBuilder {
  return db('pages')
    .where({ spaceId })
    .where('fromRevision', '<=', number)
    .where((end) => end.whereNull('toRevision').orWhere('toRevision', '>', number))
}

type Stored = { spaceId: string; id: string; fromRevision: number }

/** Stores rows that hold from a revision on. */
export const insertPages = forEachInserted<PageHead & PageText & Stored>({
  table: 'pages',
  columns: {
    spaceId: 'text',
    id: 'text',
    fromRevision: 'bigint',
    kind: 'text',
    path: 'text',
    parentId: 'text',
    position: 'float8',
    title: 'text',
    description: 'text',
    digest: 'text',
    writtenBy: 'text',
    markdown: 'text',
    document: 'text',
  } as const,
})

/** The rows of these pages hold up to a revision, without it. */
export const endPages = forEachRow<{ spaceId: string; id: string; toRevision: number }>({
  ...{ table: 'pages', key: ['spaceId', 'id'] },
  columns: { spaceId: 'text', id: 'text', toRevision: 'bigint' } as const,
  sql: (given) =>
    `update pages set to_revision = given.to_revision from ${given}
     where pages.space_id = given.space_id and pages.id = given.id and pages.to_revision is null`,
})

/** Takes back the rows of a revision that was never completed. Runs in a transaction. */
export async function dropDraft(db: Db, { spaceId, number }: RevisionKey): Promise<void> {
  const sql = `delete from pages where space_id = ? and from_revision > ? returning ${rowBytes(db)} as bytes`
  await freeBytes(db, spaceId, await rawRows(db, sql, [spaceId, number]))
  await db('pages').where({ spaceId }).where('toRevision', '>', number).update({ toRevision: null })
}

/** A row that a revision has ended, begun, or replaced by another. */
export type ChangedPage = { before: PageHead | undefined; after: PageHead | undefined }

/** The pages that differ between a revision and the one before, in their order. */
export async function listChangedPages(db: Db, { spaceId, number }: RevisionKey): Promise<ChangedPage[]> {
  const rows = (column: string) =>
    db('pages')
      .where({ spaceId, [column]: number })
      .select(headColumns)
      .orderBy('position')
  const [ended, begun]: [PageHead[], PageHead[]] = await Promise.all([
    rows('toRevision'),
    rows('fromRevision'),
  ])
  const before = new Map(ended.map((page) => [page.id, page]))
  const after = new Set(begun.map(({ id }) => id))
  return [
    ...begun.map((page) => ({ before: before.get(page.id), after: page })),
    ...ended.filter(({ id }) => !after.has(id)).map((page) => ({ before: page, after: undefined })),
  ]
}

/** The pages that differ between two revisions, those of the newer one in their order. */
export async function listPagesBetween(
  db: Db,
  { spaceId, number }: RevisionKey,
  olderNumber: number,
): Promise<ChangedPage[]> {
  const [older, newer] = await Promise.all([
    listPages(db, { spaceId, number: olderNumber }),
    listPages(db, { spaceId, number }),
  ])
  const before = new Map(older.map((page) => [page.id, page]))
  const after = new Set(newer.map(({ id }) => id))
  const same = (a: PageHead, b: PageHead) => headColumns.every((name) => a[name] === b[name])
  return [
    ...newer.flatMap((page) => {
      const old = before.get(page.id)
      return old !== undefined && same(old, page) ? [] : [{ before: old, after: page }]
    }),
    ...older.filter(({ id }) => !after.has(id)).map((page) => ({ before: page, after: undefined })),
  ]
}

/** Deletes rows that no revision from `number` on holds, up to `limit`. Runs in a transaction. @returns how many */
export async function pruneEndedPages(
  db: Db,
  { spaceId, number }: RevisionKey,
  limit: number,
): Promise<number> {
  // Those that the revision itself has ended tell its changes.
  const rows = await rawRows<{ bytes: number }>(
    db,
    `delete from pages where (space_id, id, from_revision) in (
       select space_id, id, from_revision from pages where space_id = ? and to_revision < ? limit ?)
     returning ${rowBytes(db)} as bytes`,
    [spaceId, number, limit],
  )
  await freeBytes(db, spaceId, rows)
  return rows.length
}

/**
 * Drops the texts of pages that a revision has ended, up to `limit`, when no older revision is kept. Their titles stay: they
 * tell its changes. Runs in a transaction. @returns how many
 */
export async function dropEndedTexts(
  db: Db,
  { spaceId, number }: RevisionKey,
  limit: number,
): Promise<number> {
  const rows: { id: string; fromRevision: number; bytes: number }[] = await db('pages')
    .where({ spaceId, toRevision: number })
    .where((either) => either.whereNotNull('markdown').orWhereNotNull('document'))
    .limit(limit)
    .select('id', 'fromRevision', db.raw(`${textBytes(db)} as bytes`))
  const keys = rows.map(({ id, fromRevision }) => [id, fromRevision])
  await db('pages')
    .where({ spaceId })
    .whereIn(['id', 'fromRevision'], keys)
    .update({ markdown: null, document: null })
  await freeBytes(db, spaceId, rows)
  return rows.length
}

const freeBytes = (db: Db, spaceId: string, rows: readonly { bytes: number }[]): Promise<void> =>
  addContentBytes(db, spaceId, -rows.reduce((sum, { bytes }) => sum + bytes, 0))
