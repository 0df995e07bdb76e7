import type { Knex } from 'knex'
import { announcing } from './announce.ts'
import type { Db } from './db.ts'
import { isDeadlock } from './errors.ts'

// Differences between the two databases. Their tables are the same, and most of their SQL.

export const isPostgres = (db: Db): boolean => db.client.dialect === 'postgresql'

/** How often PostgreSQL may end a transaction in favour of another one before its caller is told. */
const mostTries = 5

/**
 * Runs a transaction that writes. PostgreSQL ends one of two transactions that wait for each other, and has stored nothing of
 * it: it is run again at once. SQLite waits for another process that writes before it begins.
 *
 * @param run changes nothing but the database: it may run more than once
 */
export async function transact<Result>(db: Db, run: (transaction: Db) => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await announcing(db, run)
    } catch (error) {
      if (!isDeadlock(error) || tries === mostTries) throw error
    }
  }
}

/** `in (…)` for a query of ids that depends on another table of its statement. */
export const inCorrelated = (db: Db, ids: string): string =>
  // PostgreSQL finds the ids of an array by an index. It would compare a subquery with each row of the table.
  isPostgres(db) ? `= any (array (${ids}))` : `in (${ids})`

/** `in (…)` for a query of ids. On PostgreSQL it locks the rows, and leaves out rows that another transaction has locked. */
export const inUnlocked = (db: Db, ids: string): string =>
  // An array of ids makes PostgreSQL use the primary key, also with outdated statistics.
  isPostgres(db) ? `= any (array (${ids} for update skip locked))` : `in (${ids})`

/** Locks the rows of a query that no other transaction has locked. SQLite has one transaction at a time. */
export const lockUnlocked = (db: Db, query: Knex.QueryBuilder): Knex.QueryBuilder =>
  isPostgres(db) ? query.forUpdate().skipLocked() : query

/**
 * Takes locks with these names, in one order: two transactions cannot deadlock. The locks end with the transaction.
 *
 * @param names JSON, an array of texts
 */
export async function lockNames(transaction: Db, names: string): Promise<void> {
  if (!isPostgres(transaction)) return
  const lock = 'pg_advisory_xact_lock(hashtextextended(name, 0))'
  const sorted = 'select name from jsonb_array_elements_text(?::jsonb) as name order by name'
  await transaction.raw(`select ${lock} from (${sorted}) as names`, [names])
}

/** Takes the lock with a number until the transaction ends. SQLite has one host. @returns false when another host has it */
export async function tryLock(transaction: Db, number: number): Promise<boolean> {
  if (!isPostgres(transaction)) return true
  const { rows } = await transaction.raw('select pg_try_advisory_xact_lock(?) as locked', [number])
  return rows[0]?.locked === true
}

/**
 * The age of the oldest transaction that writes, in ms. SQLite has one transaction at a time: the query waits for the open
 * one.
 *
 * @param db the connection that writes
 */
export async function oldestTransactionMs(db: Db): Promise<number> {
  const age = isPostgres(db)
    ? `select coalesce(max(extract(epoch from clock_timestamp() - xact_start)), 0) * 1000 as ms
       from pg_stat_activity where datname = current_database() and backend_xid is not null`
    : 'select 0 as ms'
  const [row] = await rawRows<{ ms: number }>(db, age, [])
  return Number(row?.ms)
}

/** The difference of two clocks that write ids, in ms. Only hosts on PostgreSQL have several clocks. */
export const clockSlackMs = (db: Db): number => (isPostgres(db) ? 1_000 : 2)

/** Bytes of the database, on PostgreSQL of these tables. */
export async function usedBytes(db: Db, tables: readonly string[]): Promise<number> {
  const sql = isPostgres(db)
    ? `select sum(pg_total_relation_size(oid)) as used from pg_class
       where relname = any (array (select jsonb_array_elements_text(?::jsonb)))
         and relnamespace = current_schema()::regnamespace`
    : `select (page_count - freelist_count) * page_size as used
       from pragma_page_count, pragma_freelist_count, pragma_page_size where ? is not null`
  const [row] = await rawRows<{ used: number }>(db, sql, [JSON.stringify(tables)])
  return Number(row?.used ?? 0)
}

/** The tables of a database, without those of the database itself and of its extensions. */
export async function listTables(db: Db): Promise<string[]> {
  const sql = isPostgres(db)
    ? `select relname as name from pg_class
       where relkind in ('r', 'p') and relnamespace = current_schema()::regnamespace
         and not exists (select from pg_depend where objid = pg_class.oid and deptype = 'e')
       order by relname`
    : `select name from sqlite_master where type = 'table' and name not like 'sqlite\\_%' escape '\\' order by name`
  const rows = await rawRows<{ name: string }>(db, sql, [])
  return rows.map(({ name }) => name)
}

/** The bytes of a text in UTF-8. SQLite has those of a text only by its BLOB. */
export const byteLength = (db: Db, column: string): string =>
  isPostgres(db) ? `octet_length(${column})` : `length(cast(${column} as blob))`

/** The larger one of two expressions. */
export const larger = (db: Db, one: string, other: string): string =>
  `${isPostgres(db) ? 'greatest' : 'max'}(${one}, ${other})`

/** True where a column holds the text of one parameter. */
export const holdsText = (db: Db, column: string): string =>
  `${isPostgres(db) ? 'strpos' : 'instr'}(${column}, ?) > 0`

/** As `holdsText`. SQLite knows the cases of ASCII letters alone. */
export const holdsTextInAnyCase = (db: Db, column: string): string =>
  `${isPostgres(db) ? 'strpos' : 'instr'}(lower(${column}), lower(?)) > 0`

/** The condition that a column has one of the texts of one parameter, a JSON array. It stands after the column. */
export const inTexts = (db: Db): string =>
  isPostgres(db) ? `= any (array ${jsonTexts(db)})` : `in ${jsonTexts(db)}`

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
