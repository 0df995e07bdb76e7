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

/** What was read before has been overwritten by another process: waiting does not help, only beginning again. */
const busySnapshot = 517

type SqliteError = Error & { errcode: number; code: string }

const isSqliteError = (error: unknown): error is SqliteError =>
  error instanceof Error && typeof (error as Partial<SqliteError>).errcode === 'number'

/** Whether another process holds the file at the moment. */
export const isBusy = (error: unknown): boolean =>
  isSqliteError(error) && (error.errcode & 0xff) === 5 && error.errcode !== busySnapshot

/** Node gives all of SQLite's errors one code; here each has its own. */
export function nameSqliteError(error: unknown): unknown {
  if (!isSqliteError(error)) return error
  const name = names[error.errcode & 0xff]
  if (name !== undefined) error.code = name
  return error
}

/** A commit whose sync failed, by the name that `explainStorageError` knows. */
export const failedSync = (cause?: unknown): Error =>
  Object.assign(new Error('A sync of the database has failed.', { cause }), { code: 'SYNC_FAILED' })

/** What is not taken any more after it. */
export const failedBefore = (): Error =>
  Object.assign(new Error('A sync of the database has failed before.'), { code: 'SYNC_FAILED_BEFORE' })
