import type { Db } from './db.ts'
import { isPostgres, rawRows, toSnakeCase } from './sql.ts'

// The rows of a batch as one JSON parameter of one statement.

/** Columns of rows in a JSON parameter, by their names in the rows. */
export type JsonColumns = Readonly<Record<string, 'text' | 'bigint' | 'boolean' | 'float8'>>

/**
 * A table expression over one parameter, the text of `toJson`. It stands after `from`, and the parameter is bound to its `?`.
 * One statement for a batch costs a tenth of a statement for each row.
 *
 * @param name the name of the rows in the statement
 */
export function jsonRows(db: Db, name: string, columns: JsonColumns): string {
  const named = Object.entries(columns).map(([key, type], n) => {
    const value = isPostgres(db) ? `(value ->> ${n})::${type}` : `value ->> ${n}`
    return `${value} as ${toSnakeCase(key)}`
  })
  // SQLite parses each row once: a text of `json_each` would be parsed again for its columns, and cost three times as much.
  const values = isPostgres(db) ? 'jsonb_array_elements(?::jsonb)' : 'jsonb_each(?)'
  return `(select ${named.join(', ')} from ${values}) as ${name}`
}

/** Rows as JSON: an array for each, with its values in the order of `columns`. Objects would cost both sides a third more. */
export function toJson<Row extends object>(
  rows: readonly Row[],
  columns: Readonly<Partial<Record<keyof Row, unknown>>>,
): string {
  const names = Object.keys(columns) as (keyof Row)[]
  return JSON.stringify(rows.map((row) => names.map((name) => row[name])))
}

type Rows<Row> = {
  table: string
  /** The columns of a row that the statement reads. */
  columns: JsonColumns & Readonly<Partial<Record<keyof Row, unknown>>>
}

type Keyed<Row> = Rows<Row> & {
  /** The columns of a unique key, by their names in `Row`. */
  key: readonly (keyof Row & string)[]
}

type Statement<Row> = Keyed<Row> & {
  /**
   * A statement that ends with its conditions.
   *
   * @param given the rows as a table expression with the name `given`
   */
  sql: (given: string) => string
}

/** Runs one statement for all rows of a batch. */
export type ForEachRow<Row> = (db: Db, rows: readonly Row[]) => Promise<void>

export const forEachRow = <Row extends object>(statement: Statement<Row>): ForEachRow<Row> =>
  runForEach(statement, (db) => toText(db, statement))

/** Inserts rows, with all of `columns`. */
export const forEachInserted = <Row extends object>(given: Rows<Row>): ForEachRow<Row> =>
  runForEach(given, (db) => toInsert(db, given))

function runForEach<Row extends object>({ columns }: Rows<Row>, toSql: (db: Db) => string): ForEachRow<Row> {
  return async (db, rows) => {
    if (rows.length > 0) await db.raw(toSql(db), [toJson(rows, columns)])
  }
}

/**
 * Runs one statement for all rows of a batch.
 *
 * @returns for each row whether it changed a row of the table
 */
export type ForEachChanged<Row> = (db: Db, rows: readonly Row[]) => Promise<boolean[]>

export const forEachChanged = <Row extends object>(statement: Statement<Row>): ForEachChanged<Row> =>
  tellChanged(statement, (db) => toText(db, statement))

/**
 * Inserts rows, with all of `columns`.
 *
 * @param given.unlessThere a row is skipped when the table has a row with equal values in these columns
 */
export function forEachNew<Row extends object>(
  given: Keyed<Row> & { unlessThere: readonly (keyof Row & string)[] },
): ForEachChanged<Row> {
  const there = given.unlessThere.map(toSnakeCase).join()
  // `where true`: without it SQLite takes `on conflict` for a join's condition.
  return tellChanged(given, (db) => `${toInsert(db, given)} where true on conflict (${there}) do nothing`)
}

function tellChanged<Row extends object>(
  { table, columns, key }: Keyed<Row>,
  toSql: (db: Db) => string,
): ForEachChanged<Row> {
  const returned = key.map((name) => `${table}.${toSnakeCase(name)}`).join()
  // Only the last column of a key may hold a space.
  const keyOf = (row: Row) => key.map((name) => row[name]).join(' ')
  return async (db, rows) => {
    if (rows.length === 0) return []
    const changed = await rawRows<Row>(db, `${toSql(db)} returning ${returned}`, [toJson(rows, columns)])
    // Of two rows with one key, the first has changed the table.
    const left = new Set(changed.map(keyOf))
    return rows.map((row) => left.delete(keyOf(row)))
  }
}

function toInsert<Row>(db: Db, { table, columns }: Rows<Row>): string {
  const names = Object.keys(columns).map(toSnakeCase).join()
  return `insert into ${table} (${names}) select ${names} from ${jsonRows(db, 'given', columns)}`
}

/** An array of the keys makes PostgreSQL use the primary key, also with outdated statistics: see `inUnlocked`. */
function toText<Row>(db: Db, { table, columns, key, sql }: Statement<Row>): string {
  const rows = jsonRows(db, 'given', columns)
  if (!isPostgres(db)) return sql(rows)
  const [first = ''] = key.map(toSnakeCase)
  return `with given as materialized (select * from ${rows})
    ${sql('given')} and ${table}.${first} = any (array (select ${first} from given))`
}
