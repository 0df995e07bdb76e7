import type { Db } from './db.ts'
import { toSnakeCase } from './knex-config.ts'
import { isPostgres, type JsonColumns, jsonRows, rawRows } from './sql.ts'

/** How Knex's client for SQLite is told to run a statement for each of these bindings. */
export type EachBindings = { each: readonly (readonly unknown[])[] }

/**
 * Runs a statement for each row. It belongs into a transaction: half of it is nothing.
 *
 * @returns for each whether it changed a row of the table
 */
export type ForEachRow<Row> = (db: Db, rows: readonly Row[]) => Promise<boolean[]>

type Statement<Row> = {
  table: string
  /** Those of a row that the statement reads. */
  columns: JsonColumns & Readonly<Partial<Record<keyof Row, unknown>>>
  /** What tells the rows that it changes from others: columns of the table, by the names of the rows. */
  key: readonly (keyof Row & string)[]
  /**
   * The statement, in which `given.COLUMN` stands for what a row has.
   *
   * @param from `from` (or `using`) and the rows, where it names them; nothing where it is run for each
   */
  sql: (from: (keyword?: 'from' | 'using') => string) => string
}

/**
 * A statement to be run for each row of a batch: on PostgreSQL once over all of them, as one parameter of JSON; on SQLite for
 * each, prepared once, which takes half of the time of reading JSON there.
 */
export function forEachRow<Row extends object>({
  table,
  columns,
  key,
  sql,
}: Statement<Row>): ForEachRow<Row> {
  const names = Object.keys(columns) as (keyof Row & string)[]
  const prepared = toPrepared(
    sql(() => ''),
    columns,
  )
  const returned = key.map((name) => `${table}.${toSnakeCase(name)}`).join(', ')
  const toOverAll = (db: Db) => sql((keyword = 'from') => `${keyword} ${jsonRows(db, 'given', columns)}`)
  let overAll: string | undefined
  const keyOf = (row: Row) => JSON.stringify(key.map((name) => row[name]))
  return async (db, rows) => {
    if (rows.length === 0) return []
    if (!isPostgres(db)) {
      const counts = await runEach(
        db,
        prepared,
        rows.map((row) => names.map((name) => row[name])),
      )
      return counts.map((changed) => changed > 0)
    }
    overAll ??= `${toOverAll(db)} returning ${returned}`
    // Of a row only what the statement reads.
    const changed = await rawRows<Row>(db, overAll, [JSON.stringify(rows, names)])
    // Of two rows with one key, the first.
    const left = new Set(changed.map(keyOf))
    return rows.map((row) => left.delete(keyOf(row)))
  }
}

/**
 * Inserts rows, with all of `columns`.
 *
 * @param given.unlessThere of a row that has the same in these columns as one that is there, nothing is stored
 */
export function forEachInserted<Row extends object>(
  given: Omit<Statement<Row>, 'sql'> & { unlessThere?: readonly (keyof Row & string)[] },
): ForEachRow<Row> {
  const { table, columns, unlessThere } = given
  const names = Object.keys(columns).map(toSnakeCase)
  const values = names.map((name) => `given.${name}`)
  const conflict =
    unlessThere === undefined ? '' : `on conflict (${unlessThere.map(toSnakeCase).join()}) do nothing`
  const into = `insert into ${table} (${names.join()})`
  const sql: Statement<Row>['sql'] = (from) => {
    const rows = from()
    // Of values SQLite knows that it is one row: of a `select` it would keep a copy of each page that it changes.
    if (rows === '') return `${into} values (${values.join()}) ${conflict}`
    return `${into} select ${values.join()} ${rows} ${conflict}`
  }
  return forEachRow({ ...given, sql })
}

/** On SQLite: runs a statement for each of the bindings. @returns how many rows it changed each time */
export function runEach(db: Db, sql: string, each: EachBindings['each']): Promise<number[]> {
  const query = db.raw(sql).queryContext({ each } satisfies EachBindings)
  return query as unknown as Promise<number[]>
}

/** With the number of a parameter for each column of a row. */
function toPrepared(sql: string, columns: JsonColumns): string {
  const numbers = new Map(Object.keys(columns).map((name, index) => [toSnakeCase(name), index + 1]))
  return sql.replace(/\bgiven\.(\w+)/g, (_match, column: string) => `?${numbers.get(column)}`)
}
