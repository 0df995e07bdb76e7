// The thread of an SQLite file: runs what it is asked for, one statement after the other.
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import type { Given } from './sqlite-thread.ts'

export type Asked = { id: number; sql: string; bindings: readonly unknown[] }

/** An error of SQLite as it crosses to the other thread: a copy keeps no fields of its own. */
export type SqliteFailure = { message: string; errcode?: number }

export type Answer = Given & { id: number; error?: SqliteFailure }

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

/** Prepared once: a statement of ours is asked again and again. */
const maxPrepared = 300

type Prepared = { statement: StatementSync; givesRows: boolean }

const prepared = new Map<string, Prepared>()
let database: DatabaseSync | undefined
let hasBegun = false

parentPort?.on('message', (asked: readonly Asked[] | 'close') => {
  if (asked === 'close') {
    database?.close()
    parentPort?.close()
  } else parentPort?.postMessage(asked.map(answer))
})

function answer({ id, sql, bindings }: Asked): Answer {
  try {
    database ??= open()
    return { id, ...run(database, sql, bindings as SQLInputValue[]) }
  } catch (error) {
    // Whoever has asked for it did not wait, and what follows must not be stored without it: the thread ends.
    if (isBegin(sql)) throw error
    const { message, errcode } = error as SqliteFailure
    return { id, error: { message, ...(errcode !== undefined && { errcode }) } }
  }
}

function open(): DatabaseSync {
  const opened = new DatabaseSync(workerData, { timeout: busyMs })
  opened.exec(pragmas)
  return opened
}

const isBegin = (sql: string): boolean => sql.startsWith('BEGIN')
const isEnd = (sql: string): boolean => /^(COMMIT|ROLLBACK)\b(?! TO)/.test(sql)

/**
 * SQLite itself ends a transaction when the disk is full or does not answer. More of it may have been asked for by then: that
 * would be stored by itself.
 */
function assertTransaction(from: DatabaseSync, sql: string): void {
  if (hasBegun && !from.isTransaction && !isEnd(sql)) throw new Error('The transaction has been rolled back.')
  hasBegun = isBegin(sql) || (hasBegun && !isEnd(sql))
}

function run(from: DatabaseSync, sql: string, bindings: readonly SQLInputValue[]): Given {
  assertTransaction(from, sql)
  const { statement, givesRows } = prepare(from, sql)
  if (givesRows) return { rows: statement.all(...bindings) }
  const { lastInsertRowid, changes } = statement.run(...bindings)
  return { lastID: lastInsertRowid, changes }
}

function prepare(from: DatabaseSync, sql: string): Prepared {
  const found = prepared.get(sql) ?? compile(from, sql)
  // Those that were used last stay.
  prepared.delete(sql)
  prepared.set(sql, found)
  const [oldest] = prepared.keys()
  if (prepared.size > maxPrepared && oldest !== undefined) prepared.delete(oldest)
  return found
}

function compile(from: DatabaseSync, sql: string): Prepared {
  const statement = from.prepare(sql)
  return { statement, givesRows: statement.columns().length > 0 }
}
