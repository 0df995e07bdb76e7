import type { Db } from '../db.ts'
import { jsonTexts, rawRows } from './json-rows.ts'

/** In bytes. What is longer would fill the memory while it waits for a turn. */
const mostRead = 16_384

/**
 * A text where it is short, else null, and how long it is, in bytes: both databases know that without reading it.
 *
 * @returns two columns, `name` and `name_length`
 */
export const shortText = (column: string, name: string): string =>
  `case when octet_length(${column}) <= ${mostRead} then ${column} end as ${name}, octet_length(${column}) as ${name}_length`

/** The texts that were left out as they are long, by the ids of their rows. */
export async function readLongTexts(
  db: Db,
  { table, column }: { table: string; column: string },
  ids: readonly string[],
): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map()
  const sql = `select id, ${column} as text from ${table} where id in ${jsonTexts(db)}`
  const rows = await rawRows<{ id: string; text: string }>(db, sql, [JSON.stringify(ids)])
  return new Map(rows.map(({ id, text }) => [id, text]))
}
