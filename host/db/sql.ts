import type { Knex } from 'knex'
import type { Db } from './db.ts'

// Differences between the two databases. Their tables are the same, and most of their SQL.

export const isPostgres = (db: Db): boolean => db.client.dialect === 'postgresql'

/**
 * The first statement of a transaction that may read before it writes. Knex begins it with a plain BEGIN: on SQLite its
 * first write then fails while another process writes. A transaction that begins with a write waits for the other process.
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
 * JSON of scripts and events may hold. These escapes are removed; no id contains one.
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

/**
 * Runs one statement for all rows of a batch.
 *
 * @returns for each row whether it changed a row of the table
 */
export type ForEachRow<Row> = (db: Db, rows: readonly Row[]) => Promise<boolean[]>

type Statement<Row> = {
  table: string
  /** The columns of a row that the statement reads. */
  columns: JsonColumns & Readonly<Partial<Record<keyof Row, unknown>>>
  /** The columns of a unique key, by their names in `Row`. */
  key: readonly (keyof Row & string)[]
  /** @param given the rows as a table expression with the name `given` */
  sql: (given: string) => string
}

export function forEachRow<Row extends object>(statement: Statement<Row>): ForEachRow<Row> {
  const { table, columns, key, sql } = statement
  const names = Object.keys(columns)
  const returned = key.map((name) => `${table}.${toSnakeCase(name)}`).join()
  const keyOf = (row: Row) => JSON.stringify(key.map((name) => row[name]))
  return async (db, rows) => {
    if (rows.length === 0) return []
    const text = `${sql(jsonRows(db, 'given', columns))} returning ${returned}`
    const changed = await rawRows<Row>(db, text, [JSON.stringify(rows, names)])
    // Of two rows with one key, the first has changed the table.
    const left = new Set(changed.map(keyOf))
    return rows.map((row) => left.delete(keyOf(row)))
  }
}

/**
 * Inserts rows, with all of `columns`.
 *
 * @param given.unlessThere a row is skipped when the table has a row with equal values in these columns
 */
export function forEachInserted<Row extends object>(
  given: Omit<Statement<Row>, 'sql'> & { unlessThere?: readonly (keyof Row & string)[] },
): ForEachRow<Row> {
  const { table, columns, unlessThere } = given
  const names = Object.keys(columns).map(toSnakeCase).join()
  const conflict =
    unlessThere === undefined ? '' : `on conflict (${unlessThere.map(toSnakeCase).join()}) do nothing`
  return forEachRow({
    ...given,
    // `where true`: without it SQLite takes `on conflict` for a join's condition.
    sql: (rows) => `insert into ${table} (${names}) select ${names} from ${rows} where true ${conflict}`,
  })
}

/** Knex reports errors to the caller of a query, and prints nothing to the terminal. */
const silent: Knex.Logger = { warn() {}, error() {}, deprecate() {}, debug() {} }

/** Knex's settings for both databases. Columns are snake_case in SQL and camelCase in the code. */
export const knexConfig: Knex.Config = {
  log: silent,
  // An error names its statement without the values: values may be secret, and a batch has many.
  compileSqlOnError: false,
  // Knex also passes `undefined`: the name of a constraint without a name.
  wrapIdentifier: (name: string | undefined, original) =>
    original((name === undefined ? name : toSnakeCase(name)) as string),
  postProcessResponse: (response) =>
    Array.isArray(response) ? response.map(toCamelCaseRow) : toCamelCaseRow(response),
}

export const toSnakeCase = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

function toCamelCaseRow(row: unknown): unknown {
  if (row === null || typeof row !== 'object' || Array.isArray(row)) return row
  const named: Record<string, unknown> = {}
  for (const name in row) named[toCamelCase(name)] = (row as Record<string, unknown>)[name]
  return named
}

/** The tables have a fixed number of columns, so this map does not grow. */
const camelCaseNames = new Map<string, string>()

function toCamelCase(name: string): string {
  let found = camelCaseNames.get(name)
  if (found === undefined) {
    found = name.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase())
    camelCaseNames.set(name, found)
  }
  return found
}
