import { AnnexError } from '../errors/annex-error.ts'

/**
 * What keeps a database from being opened, as an error about the setting that names it. A failed migration is none
 * of these: it stays the defect that it is. Nothing here repeats the address, which may hold a password.
 *
 * @param setting the one that says where the database is
 */
export function explainDatabaseError(error: unknown, setting: 'DATA_DIR' | 'DATABASE_URL'): unknown {
  const { code = '', name = '' } = error as { code?: string; name?: string }
  const reason = Object.hasOwn(reasons, code) ? reasons[code] : reasons[name]
  if (reason === undefined) return error
  return new AnnexError(
    'settings_invalid',
    `${setting}: the database cannot be opened: ${reason} (${code || name}).`,
  )
}

const noFile = 'the file cannot be made or written there'
const noRoom = 'the disk takes no more, or fails'
const noServer = 'the server cannot be reached'
const noEntry = 'the server does not let this user in'

const reasons: Readonly<Record<string, string>> = {
  SQLITE_NOTADB: 'the file is not a SQLite database',
  SQLITE_CORRUPT: 'the file is damaged',
  SQLITE_CANTOPEN: noFile,
  SQLITE_READONLY: noFile,
  SQLITE_FULL: noRoom,
  SQLITE_IOERR: noRoom,
  EACCES: noFile,
  EEXIST: noFile,
  EISDIR: noFile,
  ENOENT: noFile,
  ENOTDIR: noFile,
  EPERM: noFile,
  EROFS: noFile,
  ERR_INVALID_URL: 'the address is not a URL',
  EAI_AGAIN: noServer,
  ECONNREFUSED: noServer,
  ECONNRESET: noServer,
  EHOSTUNREACH: noServer,
  ENETUNREACH: noServer,
  ENOTFOUND: noServer,
  ETIMEDOUT: noServer,
  KnexTimeoutError: noServer,
  // Of PostgreSQL (its appendix "Error Codes").
  '28000': noEntry,
  '28P01': noEntry,
  '3D000': 'the server has no database of that name',
  '57P03': 'the server is starting or stopping',
}
