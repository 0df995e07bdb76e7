import type { Knex } from 'knex'
import type { Db } from '../db.ts'
import { isPostgres } from '../sql.ts'

/** Rows in the order of an index, which begins with `where` and has `column` next, an id. */
export type Source = {
  table: 'deliveries' | 'attempts' | 'jobs'
  column: 'id' | 'refusedId'
  order: 'asc' | 'desc'
  where?: (query: Knex.QueryBuilder) => void
}

/** Between which ids. */
export type Range = { [Bound in keyof typeof bounds]?: string | undefined }

const bounds = { from: '>=', after: '>', to: '<=', before: '<' } as const

/**
 * Rows that one look reads, `undefined`: all. The first look reads few, as mostly these are what is looked for. On SQLite the others
 * take some ms each, so that who looks far takes turns with others who do; PostgreSQL takes its own time, and knows better how.
 */
export function rowsOfLook(db: Db, isFirst: boolean): number | undefined {
  if (isPostgres(db)) return undefined
  return isFirst ? firstRows : mostRows
}

const firstRows = 250
const mostRows = 2_500

/** The next `rows` of a source as a table of its own: what else they have to be, no other row is asked. */
export function windowOf(db: Db, source: Source, range: Range, rows: number | undefined): Knex.QueryBuilder {
  const { table, column, order, where } = source
  const query = db(table)
  if (where !== undefined) query.where(where)
  for (const [bound, id] of Object.entries(range)) {
    if (id !== undefined) query.where(column, bounds[bound as keyof Range], id)
  }
  return rows === undefined ? query : query.orderBy(column, order).limit(rows)
}

/** @returns the id of the last row of the window, `undefined` when there are no more after it */
export async function endOfWindow(
  db: Db,
  source: Source,
  range: Range,
  rows: number | undefined,
): Promise<string | undefined> {
  if (rows === undefined) return undefined
  const last = windowOf(db, source, range, 1)
    .offset(rows - 1)
    .select(`${source.column} as id`)
  return (await last.first<{ id: string }>())?.id
}

/** After which id of a list a look begins, at how many rows it looks, or at all, and how many are wanted. */
export type Look = { place: string | undefined; rows: number | undefined; limit: number }

/** What a look has found, and the id that is reached by it: `undefined` at the end. */
export type Looked<Item> = { items: Item[]; reached: string | undefined }

/**
 * The newest that fit among the next rows of all sources.
 *
 * @param ask asks a window for those that fit, the newest first
 */
export async function lookAmong<Row extends { id: string }>(
  db: Db,
  sources: readonly Source[],
  range: Range,
  { rows, limit }: Pick<Look, 'rows' | 'limit'>,
  ask: (window: Knex.QueryBuilder) => Knex.QueryBuilder,
): Promise<Looked<Row>> {
  const ends = await Promise.all(sources.map((source) => endOfWindow(db, source, range, rows)))
  // Beyond the end of any of them, others may have what comes first.
  const [reached] = ends
    .filter((end) => end !== undefined)
    .sort()
    .reverse()
  const looked = { ...range, from: reached ?? range.from }
  const found: Row[][] = await Promise.all(
    sources.map((source) => ask(windowOf(db, source, looked, rows)).limit(limit)),
  )
  const newest = found.flat().sort((one, other) => (one.id < other.id ? 1 : -1))
  return { items: newest.slice(0, limit), reached }
}
