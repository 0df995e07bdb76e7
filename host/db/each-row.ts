import type { Db } from './db.ts'
import { toSnakeCase } from './knex-config.ts'
import { type JsonColumns, jsonRows, rawRows } from './sql.ts'

/**
 * Runs one statement for all rows of a batch.
 *
 * @returns for each row whether it changed a row of the table
 */
export type ForEachRow<Row> = (db: Db, rows: readonly Row[]) => Promise<boolean[]>

type Statement<Row> = {
  table: string
  /** Those of a row that the statement reads. */
  columns: JsonColumns & Readonly<Partial<Record<keyof Row, unknown>>>
  /** Columns that tell one row of the table from another, by the names of the rows. */
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
    // Of two rows with one key, the first.
    const left = new Set(changed.map(keyOf))
    return rows.map((row) => left.delete(keyOf(row)))
  }
}

/**
 * Inserts rows, with all of `columns`.
 *
 * @param given.unlessThere a row that equals one of the table in these columns is left out
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
