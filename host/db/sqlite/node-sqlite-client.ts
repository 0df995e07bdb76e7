import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { storeNewest } from '../../cache.ts'
import type { Db } from '../db.ts'
import { BaseClient, type Query } from './base-client.ts'
import { isBusy, nameSqliteError } from './sqlite-errors.ts'
import { openWriteAheadLog, type WriteAheadLog } from './write-ahead-log.ts'

/** Which file. One that reads only never waits for one that writes. */
export type SqliteConnection = { filename: string; readOnly?: boolean }

const pragmas = `
  PRAGMA journal_mode = WAL;
  -- Commits are synced, and copied from the log, by us: see openWriteAheadLog.
  PRAGMA synchronous = NORMAL;
  PRAGMA wal_autocheckpoint = 0;
  PRAGMA foreign_keys = ON;
  -- 4 MiB of pages in memory, and the system has more: SQLite looks through all of them in many a commit, as balancing a tree
  -- takes the highest page number there is for a moment, and what is above the end is thrown out of the cache then.
  PRAGMA cache_size = -4096;
  PRAGMA journal_size_limit = 67108864;
  PRAGMA temp_store = MEMORY;
  -- The file of the log is made by the first look into the database.
  SELECT 1 FROM sqlite_schema;
`

/** How long a statement waits for another process to let go of the file: a backup, or somebody looking into it. */
const busyMs = 5_000
const lookAgainMs = 20

/** Prepared once: a statement of ours is asked again and again. */
const maxPrepared = 300

/**
 * Knex's client for SQLite, over the SQLite that Node itself has: there is nothing to compile, and a statement costs no
 * way to another thread. What a process stores in groups takes it well below a millisecond; the disk is waited for
 * elsewhere. A commit is on the disk when its query settles.
 */
export class NodeSqliteClient extends BaseClient<SqliteConnection> {
  _driver(): typeof DatabaseSync {
    return DatabaseSync
  }

  override async acquireRawConnection(): Promise<DatabaseSync> {
    try {
      const { filename, readOnly = false } = this.connectionSettings
      const connection = new DatabaseSync(filename, { readOnly, timeout: 0 })
      connectionOf.set(this.connectionSettings, connection)
      if (readOnly) return connection
      await untilFree(() => connection.exec(pragmas))
      if (filename !== ':memory:') logOf.set(connection, openWriteAheadLog(connection, filename))
      return connection
    } catch (error) {
      throw nameSqliteError(error)
    }
  }

  override async destroyRawConnection(connection: DatabaseSync): Promise<void> {
    await logOf.get(connection)?.close()
    connection.close()
  }

  /** Settles when what was stored is on the disk. */
  override async transaction(container: unknown, config?: object, outer?: unknown): Promise<unknown> {
    const result = await super.transaction(container, config, outer)
    await this.synced()
    return result
  }

  /** Settles when all that was committed is on the disk. */
  async synced(): Promise<void> {
    const connection = connectionOf.get(this.connectionSettings)
    if (connection !== undefined) await syncOf.get(connection)
  }

  async _query(connection: DatabaseSync, query: Query): Promise<Query> {
    try {
      const prepared = await untilFree(() => prepare(connection, query.sql))
      // An error may have ended it (a full disk does): Knex would tell its caller of this one instead.
      if (prepared.rollsBack && !connection.isTransaction) return query
      const log = logOf.get(connection)
      if (log !== undefined && prepared.stores && !connection.isTransaction) {
        // What is not to be stored is refused at its beginning.
        log.assertSound()
        await log.keepShort()
      }
      const answered = await untilFree(() => run(connection, prepared, query))
      if (log === undefined || !unsynced.has(connection) || connection.isTransaction) return answered
      const synced = sync(connection, log)
      // A transaction waits for it when it has let go of the connection.
      if (!prepared.commits) await synced
      return answered
    } catch (error) {
      throw nameSqliteError(error)
    }
  }
}

/** Settles when all that was committed on SQLite is on the disk. */
export const synced = async (db: Db): Promise<void> => (db.client as Partial<NodeSqliteClient>).synced?.()

// Not of the client: Knex makes one for each transaction, without its constructor.
const connectionOf = new WeakMap<SqliteConnection, DatabaseSync>()
const preparedOf = new WeakMap<DatabaseSync, Map<string, Prepared>>()
const logOf = new WeakMap<DatabaseSync, WriteAheadLog>()
/** The last sync of each. */
const syncOf = new WeakMap<DatabaseSync, Promise<void>>()
/** Those that have written since then. */
const unsynced = new WeakSet<DatabaseSync>()

function sync(connection: DatabaseSync, log: WriteAheadLog): Promise<void> {
  unsynced.delete(connection)
  const synced = log.sync()
  // Whoever waits for it hears of its failure.
  synced.catch(() => {})
  syncOf.set(connection, synced)
  return synced
}

/** `stores`: it writes, or begins a transaction that may. */
type Prepared = {
  statement: StatementSync
  givesRows: boolean
  writes: boolean
  stores: boolean
  commits: boolean
  rollsBack: boolean
}

/** A word of these in a text only costs a sync that was not needed. */
const writing = /\b(insert|update|delete|replace|create|alter|drop|reindex|vacuum)\b/i

function run(connection: DatabaseSync, { statement, givesRows, writes }: Prepared, query: Query): Query {
  if (writes) unsynced.add(connection)
  const each = query.queryContext?.each
  if (each !== undefined) {
    query.response = each.map((bindings) => Number(statement.run(...bindings.map(toSqlite)).changes))
    return query
  }
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
  storeNewest(prepared, sql, found, maxPrepared)
  return found
}

function compile(connection: DatabaseSync, sql: string): Prepared {
  const statement = connection.prepare(sql)
  const writes = writing.test(sql)
  return {
    statement,
    givesRows: statement.columns().length > 0,
    writes,
    stores: writes || /^begin\b/i.test(sql),
    commits: /^commit\b/i.test(sql),
    rollsBack: /^rollback\b/i.test(sql),
  }
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

export function toSqlite(value: unknown): SQLInputValue {
  if (typeof value === 'boolean') return Number(value)
  if (value instanceof Date) return value.valueOf()
  return (value ?? null) as SQLInputValue
}
