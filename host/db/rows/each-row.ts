import type { Db } from '../db.ts'
import { isPostgres, type JsonColumns, jsonRows, rawRows } from './json-rows.ts'
import { toSnakeCase } from './naming.ts'

/** How Knex's client for SQLite is told to run a statement for each of these bindings. */
export type EachBindings = { each: readonly (readonly unknown[])[] }

type Value = string | number | boolean | null | undefined

/** A statement to be run for each row of a batch. */
export type EachRow<Row> = {
  columns: JsonColumns & Readonly<Partial<Record<keyof Row, unknown>>>
  rows: readonly Row[]
  /**
   * What tells the rows that it changes from others: columns of the table, by the names of the rows.
   */
  key: readonly (keyof Row & string)[]
  table: string
  /**
   * The statement, in which `given.COLUMN` stands for what a row has.
   *
   * @param from `from` (or `using`) and the rows, where it names them; nothing where it is run for each
   */
  sql: (from: (keyword?: 'from' | 'using') => string) => string
}

/**
 * Runs a statement for each row: on PostgreSQL once over all of them, as one parameter of JSON; on SQLite for each, prepared
 * once, which takes half of the time of reading JSON there. It belongs into a transaction: half of it is nothing.
 *
 * @returns for each whether it changed a row of the table
 */
export async function forEachRow<Row extends object>(db: Db, statement: EachRow<Row>): Promise<boolean[]> {
  const { columns, rows, key, table, sql } = statement
  if (rows.length === 0) return []
  if (!isPostgres(db)) {
    const names = Object.keys(columns) as (keyof Row)[]
    const each = rows.map((row) => names.map((name) => row[name] as Value))
    return (
      await runEach(
        db,
        toPrepared(
          sql(() => ''),
          columns,
        ),
        each,
      )
    ).map((changed) => changed > 0)
  }
  const text = sql((keyword = 'from') => `${keyword} ${jsonRows(db, 'given', columns)}`)
  const returned = key.map((name) => `${table}.${toSnakeCase(name)}`).join(', ')
  const changed = await rawRows<Row>(db, `${text} returning ${returned}`, [JSON.stringify(rows)])
  const keyOf = (row: Row) => JSON.stringify(key.map((name) => row[name]))
  // Of two rows with one key, the first.
  const left = new Set(changed.map(keyOf))
  return rows.map((row) => left.delete(keyOf(row)))
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
