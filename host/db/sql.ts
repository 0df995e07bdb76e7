import type { Db } from './db.ts'
import { toCamelCaseRow, toSnakeCase } from './knex-config.ts'

// What differs between the two databases. Both have the same tables and mostly the same SQL.

export const isPostgres = (db: Db): boolean => db.client.dialect === 'postgresql'

/**
 * The first statement of a transaction that may read before it writes. Knex begins one with a plain BEGIN, and SQLite then fails
 * at the first write while another process writes. A transaction that begins with a write waits for the other process.
 */
export async function lockForWriting(transaction: Db): Promise<void> {
  if (!isPostgres(transaction)) await transaction.raw('delete from key_checks where false')
}

/** Columns of rows in a JSON parameter, by their names in the JSON. */
export type JsonColumns = Readonly<Record<string, 'text' | 'bigint' | 'boolean'>>

/**
 * A table expression over one parameter, a JSON array of objects. It stands after `from`, and the parameter is bound to its `?`.
 * One statement for a batch costs a tenth of a statement for each row.
 *
 * @param name the name of the rows in the statement
 */
export function jsonRows(db: Db, name: string, columns: JsonColumns): string {
  const entries = Object.entries(columns).map(([key, type]) => ({ key, type, column: toSnakeCase(key) }))
  if (isPostgres(db)) {
    // A name in quotes keeps its capitals.
    const given = entries.map(({ key, type }) => `"${key}" ${type}`)
    const named = entries.map(({ key, column }) => `"${key}" as ${column}`)
    return `(select ${named.join(', ')} from jsonb_to_recordset(?::jsonb) as given(${given.join(', ')})) as ${name}`
  }
  const named = entries.map(({ key, column }) => `value ->> '${key}' as ${column}`)
  return `(select ${named.join(', ')} from json_each(?)) as ${name}`
}

/** A subquery over one parameter, a JSON array of texts. */
export function jsonTexts(db: Db): string {
  return isPostgres(db) ? '(select jsonb_array_elements_text(?::jsonb))' : '(select value from json_each(?))'
}

/**
 * A column of JSON text as an operand of `->>`. PostgreSQL rejects escapes of U+0000 and of half a surrogate pair, which the
 * JSON of scripts and events may hold. They are removed there; an id has none.
 */
export function lenientJson(db: Db, column: string): string {
  // A pair of backslashes is matched first and kept: the text after it is no escape.
  const unescaped = String.raw`regexp_replace(${column}, '(\\\\)|\\u[0-9a-fA-F]{4}', '\1', 'g')::jsonb`
  return isPostgres(db) ? unescaped : column
}

/** The rows of a raw statement, with columns in camelCase. */
export async function rawRows<Row>(db: Db, sql: string, bindings: readonly unknown[]): Promise<Row[]> {
  const answer = await db.raw(sql, bindings as never)
  return isPostgres(db) ? answer.rows.map(toCamelCaseRow) : answer
}
