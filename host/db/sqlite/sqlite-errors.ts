import type { SqliteFailure } from './serve-sqlite.ts'

/** SQLite's result codes (its documentation, "Result and Error Codes") that somebody asks for by name. */
const names: Readonly<Record<number, string>> = {
  5: 'SQLITE_BUSY',
  6: 'SQLITE_LOCKED',
  8: 'SQLITE_READONLY',
  10: 'SQLITE_IOERR',
  11: 'SQLITE_CORRUPT',
  13: 'SQLITE_FULL',
  14: 'SQLITE_CANTOPEN',
  19: 'SQLITE_CONSTRAINT',
  26: 'SQLITE_NOTADB',
}

/** Node gives all of SQLite's errors one code; here each has its own. */
export function toSqliteError({ message, errcode }: SqliteFailure): Error {
  const code = errcode === undefined ? undefined : names[errcode & 0xff]
  return Object.assign(new Error(message), { errcode, ...(code !== undefined && { code }) })
}
