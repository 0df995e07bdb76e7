import { AnnexError } from '../errors/annex-error.ts'
import { nameSqliteError } from './sqlite-errors.ts'

/**
 * Turns an error of opening a database into one about the setting that names the database. A failed migration is a defect and
 * is returned as it is. No text repeats the address, which may hold a password.
 */
export function explainDatabaseError(error: unknown, setting: 'DATA_DIR' | 'DATABASE_URL'): unknown {
  nameSqliteError(error)
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
  // PostgreSQL's, by its appendix "Error Codes".
  '28000': noEntry,
  '28P01': noEntry,
  '3D000': 'the server has no database of that name',
  '57P03': 'the server is starting or stopping',
}
