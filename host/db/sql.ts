import type { Db } from './db.ts'
import { toCamelCaseRow, toSnakeCase } from './knex-config.ts'

export const isPostgres = (db: Db): boolean => db.client.dialect === 'postgresql'

/**
 * The first statement of a transaction that may read before it writes. Knex begins one with a plain BEGIN, and SQLite then fails
 * at the first write while another process writes. A transaction that begins with a write waits for the other process.
 */
export async function lockForWriting(transaction: Db): Promise<void> {
  if (!isPostgres(transaction)) await transaction.raw('delete from key_checks where false')
}

/** The columns of rows that are given as JSON, by the names that they have there. */
export type JsonColumns = Readonly<Record<string, 'text' | 'bigint' | 'boolean'>>

/**
 * SQL for rows that come as one parameter, a JSON array of objects: a statement does a whole batch then, at a tenth of
 * what a statement for each row costs. To be put after `from`, with the parameter bound to its `?`.
 *
 * @param name what the rows are called in the statement
 */
export function jsonRows(db: Db, name: string, columns: JsonColumns): string {
  const entries = Object.entries(columns).map(([key, type]) => ({ key, type, column: toSnakeCase(key) }))
  if (isPostgres(db)) {
    // Named as in the JSON first: a name in quotes keeps its capitals.
    const given = entries.map(({ key, type }) => `"${key}" ${type}`)
    const named = entries.map(({ key, column }) => `"${key}" as ${column}`)
    return `(select ${named.join(', ')} from jsonb_to_recordset(?::jsonb) as given(${given.join(', ')})) as ${name}`
  }
  const named = entries.map(({ key, column }) => `value ->> '${key}' as ${column}`)
  return `(select ${named.join(', ')} from json_each(?)) as ${name}`
}

/** SQL for a list of texts that comes as one parameter, a JSON array. */
export function jsonTexts(db: Db): string {
  return isPostgres(db) ? '(select jsonb_array_elements_text(?::jsonb))' : '(select value from json_each(?))'
}

/**
 * SQL for a column of JSON text to look into: PostgreSQL reads none with an escape of U+0000 or of half a surrogate pair, which
 * scripts and events may hold. What is escaped is left out there, so ids are found, which have nothing to escape.
 */
export function lenientJson(db: Db, column: string): string {
  // A pair of backslashes goes first, and stays: what follows it is no escape.
  const unescaped = String.raw`regexp_replace(${column}, '(\\\\)|\\u[0-9a-fA-F]{4}', '\1', 'g')::jsonb`
  return isPostgres(db) ? unescaped : column
}

/** The rows of a raw statement. Columns are in camelCase, as everywhere. */
export async function rawRows<Row>(db: Db, sql: string, bindings: readonly unknown[]): Promise<Row[]> {
  const answer = await db.raw(sql, bindings as never)
  return isPostgres(db) ? answer.rows.map(toCamelCaseRow) : answer
}
