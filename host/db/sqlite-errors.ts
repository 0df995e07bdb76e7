import type { Knex } from 'knex'
import sqlite3 from 'sqlite3'

/** An error of the `sqlite3` package. `errno` is an extended result code (https://sqlite.org/rescode.html). */
type SqliteError = Error & { errno: number; code: string }

const names: ReadonlyMap<number, string> = new Map([
  [sqlite3.ERROR, 'SQLITE_ERROR'],
  [sqlite3.BUSY, 'SQLITE_BUSY'],
  [sqlite3.LOCKED, 'SQLITE_LOCKED'],
  [sqlite3.READONLY, 'SQLITE_READONLY'],
  [sqlite3.IOERR, 'SQLITE_IOERR'],
  [sqlite3.CORRUPT, 'SQLITE_CORRUPT'],
  [sqlite3.FULL, 'SQLITE_FULL'],
  [sqlite3.CANTOPEN, 'SQLITE_CANTOPEN'],
  [sqlite3.TOOBIG, 'SQLITE_TOOBIG'],
  [sqlite3.CONSTRAINT, 'SQLITE_CONSTRAINT'],
  [sqlite3.MISMATCH, 'SQLITE_MISMATCH'],
  [sqlite3.RANGE, 'SQLITE_RANGE'],
  [sqlite3.NOTADB, 'SQLITE_NOTADB'],
])

/** SQLITE_IOERR_FSYNC: the only error that says that a sync failed. */
const failedSync = 1034

/** Names the primary result code of an error: the package names no extended one. */
export function nameSqliteError(error: unknown): void {
  const { errno, code } = error as Partial<SqliteError>
  if (code !== 'UNKNOWN' || errno === undefined) return
  Object.assign(error as SqliteError, { code: names.get(errno & 0xff) ?? code })
}

/** Gives errors of queries the codes that `explainStorageError` reads. */
export function nameErrorsOf(db: Knex): void {
  let last: SqliteError | undefined
  db.on('query-error', (error: SqliteError, { sql }: { sql: string }) => {
    nameSqliteError(error)
    if (!/^rollback\b/i.test(sql)) last = error
    // SQLite ends a transaction itself when the disk is full. Knex's ROLLBACK then fails, and its error hides the cause.
    else if (last !== undefined) Object.assign(error, { code: last.code, message: last.message })
  })
}

/**
 * Stores nothing more after a sync that failed, until the next start. The system may have forgotten what it could not write,
 * and SQLite's next commit would succeed without it.
 */
export function endAtFailedSync(db: Knex): void {
  let hasFailed = false
  db.on('query-error', (error: SqliteError) => {
    if (error.errno !== failedSync) return
    hasFailed = true
    error.code = 'SYNC_FAILED'
  })
  // Knex runs no statement for which a listener throws.
  db.on('query', ({ sql }: { sql: string }) => {
    if (!hasFailed || /^(select|with|rollback)\b/i.test(sql)) return
    throw Object.assign(new Error('A sync of the database has failed.'), { code: 'SYNC_FAILED_BEFORE' })
  })
}
