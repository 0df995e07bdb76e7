import type { Knex } from 'knex'
import type { Db } from '../../db.ts'
import { isPostgres } from '../../rows/json-rows.ts'

/** Rows in the order of an index, which begins with `where` and has `column` next, an id. */
export type Source = {
  table: 'deliveries' | 'attempts' | 'jobs'
  column: 'id' | 'refusedId'
  order: 'asc' | 'desc'
  where?: (query: Knex.QueryBuilder) => void
}

/** Between which ids. */
export type Range = { from?: string; after?: string; to?: string; before?: string }

const bounds = { from: '>=', after: '>', to: '<=', before: '<' } as const

/**
 * Rows that one look reads, `undefined`: all. The first look reads few, as mostly these are what is looked for. SQLite runs in the
 * host's own thread, where all else waits meanwhile, so that no look takes more than some ms; PostgreSQL takes its own time, and
 * knows better how.
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
  for (const [bound, id] of Object.entries(range) as [keyof Range, string | undefined][]) {
    if (id !== undefined) query.where(column, bounds[bound], id)
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
