import type { Db } from './db.ts'

type Row = Record<string, unknown>

/** An insert of SQLite takes 500 rows at most. */
const pageRows = 400
const pageBytes = 8 * 1024 * 1024

/**
 * Reads all rows of a table in the order of its key, some at a time: rows up to 8 MiB of text, or one larger row.
 *
 * @param table.texts the columns that may be long
 */
export async function* readPages(
  db: Db,
  table: { name: string; key: readonly string[]; texts: readonly string[] },
): AsyncGenerator<Row[]> {
  const { name, key, texts } = table
  const places = (mark: string) => `(${key.map(() => mark).join()})`
  const keyOf = (row: Row) => key.map((column) => row[column]) as string[]
  const between = (sign: '>' | '<=', row: Row) =>
    db.raw(`${places('??')} ${sign} ${places('?')}`, [...key, ...keyOf(row)])
  // Both databases know the length of a text without reading it.
  const bytes = texts.map(() => 'coalesce(octet_length(??), 0)').join(' + ')
  let after: Row | undefined
  for (;;) {
    const sizes = db(name)
      .select(...key, db.raw(`${bytes} as bytes`, texts as string[]))
      .orderBy([...key])
      .limit(pageRows)
    if (after !== undefined) sizes.where(between('>', after))
    const last = lastFitting(await sizes)
    if (last === undefined) return
    const page = db(name)
      .where(between('<=', last))
      .orderBy([...key])
    if (after !== undefined) page.where(between('>', after))
    yield await page
    after = last
  }
}

/** The last row that fits into a page with those before it; the first row always does. */
function lastFitting(rows: readonly (Row & { bytes: number | string })[]): Row | undefined {
  let left = pageBytes
  let last = rows[0]
  for (const row of rows) {
    left -= Number(row.bytes)
    if (left < 0) break
    last = row
  }
  return last
}
