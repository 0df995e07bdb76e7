import type { Knex } from 'knex'
import sqlite3 from 'sqlite3'
import { AnnexError, type ErrorCode } from '../errors.ts'

/**
 * Turns an error of an open database into one that tells the caller what to do.
 *
 * @returns `undefined` for a defect: neither a full disk, nor a database that is busy or out of reach, nor a lost connection
 */
export function explainStorageError(error: unknown): AnnexError | undefined {
  const { code = '', name = '', message = '', syscall = '' } = error as Partial<NodeJS.ErrnoException>
  const reason = Object.hasOwn(reasons, code)
    ? reasons[code]
    : (reasons[name] ?? (isOutOfReach(code, syscall) ? away : reasonOfLoss(code, message)))
  if (reason === undefined) return undefined
  const what = code === '' && name === 'Error' ? reason.what : `${reason.what} (${code || name})`
  const next = reason.code === 'storage_unsure' ? unsure : 'Nothing was stored: send it again later.'
  return new AnnexError(reason.code, `${what}. ${next}`, { cause: error })
}

/** PostgreSQL rejects a text with U+0000 or half of a surrogate pair. */
export const isTextRefused = (error: unknown): boolean =>
  ['22021', '22P05', '22P02'].includes((error as { code?: string }).code ?? '')

/** PostgreSQL has ended this transaction so that another one can go on. The caller may repeat it at once. */
export const isDeadlock = (error: unknown): boolean => (error as { code?: string }).code === '40P01'

/** A row with a unique value of this one is there already. */
export const isDuplicate = (error: unknown): boolean => {
  const { code, message = '' } = error as { code?: string; message?: string }
  return code === '23505' || (code === 'SQLITE_CONSTRAINT' && message.includes('UNIQUE'))
}

/**
 * True when the item can never be stored: the database rejects its values, or the code has a defect. Any other error may
 * come from the state of the database, so the item is kept and retried.
 */
export function isOwnFault(error: unknown): boolean {
  if (explainStorageError(error) !== undefined) return false
  const { code = '', name = '' } = error as { code?: string; name?: string }
  return ownFaults.test(code) || ['TypeError', 'RangeError', 'ReferenceError', 'SyntaxError'].includes(name)
}

/** Codes for values, constraints, statements and sizes. 42501 is left out: an administrator may grant the right again. */
const ownFaults =
  /^(SQLITE_(CONSTRAINT|ERROR|MISMATCH|RANGE|TOOBIG)|ERR_INVALID_ARG.*|(21|22|23|42(?!501)|44|54)[0-9A-Z]{3})$/

const unsure =
  'The change may or may not be stored: check it, or send it again. An event is stored once when it is sent again with the same eventId.'

type Reason = { code: ErrorCode; what: string }

const full: Reason = { code: 'storage_full', what: 'The disk of the database is full' }
const locked: Reason = { code: 'storage_busy', what: 'Another process has locked the database' }
const away: Reason = { code: 'storage_busy', what: 'The server of the database cannot be reached' }
const noEntry: Reason = { code: 'storage_busy', what: 'The server of the database does not let Annex in' }
const tooBusy: Reason = { code: 'storage_busy', what: 'The database has too much to do' }
const readOnly: Reason = {
  code: 'storage_busy',
  what: 'The database only takes readers: it may be a standby, or about to become the primary',
}
const inTheWay: Reason = {
  code: 'storage_busy',
  what: 'Another transaction was storing the same rows, and each waited for the other',
}
const serverFails: Reason = {
  code: 'storage_busy',
  what: 'The server of the database has a failure of its system',
}
const lost: Reason = { code: 'storage_unsure', what: 'The connection to the database was lost' }

const failed = 'The disk of the database has failed: look at it, and start Annex again'

/** After each of them nothing was committed, except after SYNC_FAILED. */
const reasons: Readonly<Record<string, Reason>> = {
  SYNC_FAILED: { code: 'storage_unsure', what: failed },
  SYNC_FAILED_BEFORE: { code: 'storage_full', what: failed },
  SQLITE_FULL: full,
  SQLITE_IOERR: { code: 'storage_full', what: 'The disk of the database takes no more, or fails' },
  SQLITE_BUSY: locked,
  SQLITE_LOCKED: locked,
  // No connection became free in time.
  KnexTimeoutError: tooBusy,
  ECONNREFUSED: away,
  // Of PostgreSQL (its appendix "Error Codes"), and of PgBouncer: 08P01.
  '08001': away,
  '08004': away,
  '08P01': away,
  '25006': readOnly,
  '25P03': tooBusy,
  '25P04': tooBusy,
  '28000': noEntry,
  '28P01': noEntry,
  '3D000': noEntry,
  '40001': inTheWay,
  '40P01': inTheWay,
  '53000': tooBusy,
  '53100': full,
  '57P04': away,
  '58000': serverFails,
  '58030': serverFails,
  SQLITE_READONLY: readOnly,
  '53200': tooBusy,
  '53300': away,
  '53400': tooBusy,
  '55P03': locked,
  '57014': tooBusy,
  '57P03': away,
  '57P05': away,
}

/** A connection that could not be opened. */
const isOutOfReach = (code: string, syscall: string): boolean =>
  ['connect', 'getaddrinfo'].includes(syscall) &&
  ['EAI_AGAIN', 'ENOTFOUND', 'ENOENT', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT'].includes(code)

/** Codes of a lost connection. The last three are PostgreSQL's: an administrator or the server ended it. */
const lossCodes: ReadonlySet<string> = new Set([
  ...['ECONNRESET', 'EPIPE', 'ETIMEDOUT'],
  ...['57P01', '57P02', '08006'],
])

/**
 * Explains a connection that ended before the answer to a statement. Knex's message begins with that statement. Before its
 * commit a transaction is rolled back. The outcome of a commit, or of a statement outside of a transaction, is unknown.
 */
function reasonOfLoss(code: string, message: string): Reason | undefined {
  // Errors of `pg` while it connects.
  if (/^(Connection terminated( unexpectedly| due to connection timeout)?|timeout expired)$/.test(message))
    return away
  // ALTER DATABASE … ALLOW_CONNECTIONS false. Other causes of 55000 are defects.
  if (code === '55000' && message.endsWith('is not currently accepting connections')) return away
  const [, statement, said] = /^([\s\S]+) - (.*)$/.exec(message) ?? []
  if (statement === undefined || said === undefined) return undefined
  // `pg` did not send the statement.
  if (said.endsWith('is not queryable')) return away
  if (!lossCodes.has(code) && !said.startsWith('Connection terminated')) return undefined
  return /^(begin|rollback|select)\b/i.test(statement) ? away : lost
}

/**
 * Turns an error of opening a database into one about the setting that names the database. A failed migration is a defect
 * and is returned unchanged. No text repeats the address, as it may hold a password.
 */
export function explainDatabaseError(error: unknown, setting: 'DATA_DIR' | 'DATABASE_URL'): unknown {
  nameSqliteError(error)
  const { code = '', name = '' } = error as { code?: string; name?: string }
  const reason = Object.hasOwn(openingReasons, code) ? openingReasons[code] : openingReasons[name]
  if (reason === undefined) return error
  const { why, next } = reason
  return new AnnexError(
    'settings_invalid',
    `${setting}: the database cannot be opened: ${why} (${code || name}). ${next}`,
  )
}

type OpeningReason = { why: string; next: string }

const restore = 'Restore it from a backup (docs/backup.md), or name another place.'
const noFile: OpeningReason = {
  why: 'the file cannot be made or written there',
  next: 'Change the owner or the mode of the file and its folder, or name another place.',
}
const noRoom: OpeningReason = {
  why: 'the disk takes no more, or fails',
  next: 'Make room on it, or repair it.',
}
const noServer: OpeningReason = {
  why: 'the server cannot be reached',
  next: 'Start it, or correct host and port of the address.',
}
const userRefused: OpeningReason = {
  why: 'the server does not let this user in',
  next: 'Correct user and password of the address, or the rules of the server.',
}

const openingReasons: Readonly<Record<string, OpeningReason>> = {
  SQLITE_NOTADB: { why: 'the file is not a SQLite database', next: restore },
  SQLITE_CORRUPT: { why: 'the file is damaged', next: restore },
  SQLITE_CANTOPEN: noFile,
  SQLITE_READONLY: noFile,
  SQLITE_FULL: noRoom,
  SQLITE_IOERR: noRoom,
  SQLITE_BUSY: {
    why: 'another process has locked the file',
    next: 'End that process, or wait for it, and start again.',
  },
  EACCES: noFile,
  EEXIST: noFile,
  EISDIR: noFile,
  ENOENT: noFile,
  ENOTDIR: noFile,
  EPERM: noFile,
  EROFS: noFile,
  ERR_INVALID_URL: {
    why: 'the address is not a URL',
    next: 'Write it as postgres://user:password@host:5432/name.',
  },
  EAI_AGAIN: noServer,
  ECONNREFUSED: noServer,
  ECONNRESET: noServer,
  EHOSTUNREACH: noServer,
  ENETUNREACH: noServer,
  ENOTFOUND: noServer,
  ETIMEDOUT: noServer,
  KnexTimeoutError: noServer,
  // PostgreSQL, appendix "Error Codes".
  '28000': userRefused,
  '28P01': userRefused,
  '3D000': { why: 'the server has no database of that name', next: 'Make it: createdb NAME.' },
  '42501': {
    why: 'this user may not make tables there',
    next: 'Let it: GRANT CREATE, USAGE ON SCHEMA public TO the user, or make the user the owner of the database.',
  },
  '53300': {
    why: 'the server has no free connection',
    next: 'End other clients, or raise its max_connections.',
  },
  '57P03': { why: 'the server is starting or stopping', next: 'Start Annex again when it runs.' },
}

/** An error of the `sqlite3` package. `errno` is an extended result code (https://sqlite.org/rescode.html). */
type SqliteError = Error & { errno: number; code: string }

const resultCodes: ReadonlyMap<number, string> = new Map([
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

/** SQLITE_IOERR_FSYNC: the code of a failed sync. */
const failedSync = 1034

/** Names the primary result code of an error: the package names no extended one. */
function nameSqliteError(error: unknown): void {
  const { errno, code } = error as Partial<SqliteError>
  if (code !== 'UNKNOWN' || errno === undefined) return
  Object.assign(error as SqliteError, { code: resultCodes.get(errno & 0xff) ?? code })
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
 * Refuses all writes after a failed sync, until the next start. The system may have dropped the unwritten pages, and SQLite's
 * next commit would succeed without them.
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
