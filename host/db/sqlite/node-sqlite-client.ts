import { createRequire } from 'node:module'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Knex } from 'knex'
import { isBusy, nameSqliteError } from './sqlite-errors.ts'

/** What Knex hands its client of a query, and takes back. */
type Query = {
  sql: string
  bindings?: readonly unknown[]
  response?: unknown
  context?: { lastID: unknown; changes: unknown }
}

type BaseClient = Knex.Client & { connectionSettings: { filename: string } }

const BaseClient = createRequire(import.meta.url)('knex/lib/dialects/better-sqlite3') as new (
  config: Knex.Config,
) => BaseClient

const pragmas = `
  PRAGMA journal_mode = WAL;
  -- A commit is on the disk when it returns. NORMAL loses acknowledged events in a power cut.
  PRAGMA synchronous = FULL;
  PRAGMA foreign_keys = ON;
  -- 64 MiB of pages in memory, and up to 40 MiB in the log before they are copied: the same few pages change all the time.
  PRAGMA cache_size = -65536;
  PRAGMA wal_autocheckpoint = 10000;
  PRAGMA journal_size_limit = 67108864;
  PRAGMA temp_store = MEMORY;
`

/** How long a statement waits for another process to let go of the file: a backup, or somebody looking into it. */
const busyMs = 5_000
const lookAgainMs = 20

/** Prepared once: a statement of ours is asked again and again. */
const maxPrepared = 300

/**
 * Knex's client for SQLite, over the SQLite that Node itself has: there is nothing to compile, and a statement costs no
 * way to another thread. What a process stores in groups takes it well below a millisecond.
 */
export class NodeSqliteClient extends BaseClient {
  _driver(): typeof DatabaseSync {
    return DatabaseSync
  }

  override async acquireRawConnection(): Promise<DatabaseSync> {
    try {
      const connection = new DatabaseSync(this.connectionSettings.filename, { timeout: 0 })
      await untilFree(() => connection.exec(pragmas))
      return connection
    } catch (error) {
      throw nameSqliteError(error)
    }
  }

  override async destroyRawConnection(connection: DatabaseSync): Promise<void> {
    connection.close()
  }

  async _query(connection: DatabaseSync, query: Query): Promise<Query> {
    try {
      return await untilFree(() => run(connection, query))
    } catch (error) {
      throw nameSqliteError(error)
    }
  }
}

// Not of the client: Knex makes one for each transaction, without its constructor.
const preparedOf = new WeakMap<DatabaseSync, Map<string, Prepared>>()

type Prepared = { statement: StatementSync; givesRows: boolean }

function run(connection: DatabaseSync, query: Query): Query {
  const { statement, givesRows } = prepare(connection, query.sql)
  const bindings = (query.bindings ?? []).map(toSqlite)
  if (givesRows) {
    query.response = statement.all(...bindings)
    return query
  }
  const { lastInsertRowid, changes } = statement.run(...bindings)
  query.context = { lastID: lastInsertRowid, changes }
  return query
}

function prepare(connection: DatabaseSync, sql: string): Prepared {
  const prepared = preparedOf.get(connection) ?? new Map<string, Prepared>()
  preparedOf.set(connection, prepared)
  const found = prepared.get(sql) ?? compile(connection, sql)
  // Those that were used last stay.
  prepared.delete(sql)
  prepared.set(sql, found)
  const [oldest] = prepared.keys()
  if (prepared.size > maxPrepared && oldest !== undefined) prepared.delete(oldest)
  return found
}

function compile(connection: DatabaseSync, sql: string): Prepared {
  const statement = connection.prepare(sql)
  return { statement, givesRows: statement.columns().length > 0 }
}

/** Waits without holding up anything else: SQLite's own time-out would stop the whole process. */
async function untilFree<Result>(run: () => Result): Promise<Result> {
  const giveUpAt = performance.now() + busyMs
  for (;;) {
    try {
      return run()
    } catch (error) {
      if (!isBusy(error) || performance.now() > giveUpAt) throw error
      await sleep(lookAgainMs)
    }
  }
}

function toSqlite(value: unknown): SQLInputValue {
  if (typeof value === 'boolean') return Number(value)
  if (value instanceof Date) return value.valueOf()
  return (value ?? null) as SQLInputValue
}
