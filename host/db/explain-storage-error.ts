import { AnnexError } from '../errors/annex-error.ts'
import type { ErrorCode } from '../errors/codes.ts'

/**
 * What keeps an open database from storing, as an error that tells a caller what to do.
 *
 * @returns `undefined` for what is neither a full disk nor a database that is busy: a defect
 */
export function explainStorageError(error: unknown): AnnexError | undefined {
  const { code = '', name = '' } = error as { code?: string; name?: string }
  const reason = Object.hasOwn(reasons, code) ? reasons[code] : reasons[name]
  if (reason === undefined) return undefined
  const message = `${reason.what} (${code || name}). Nothing was stored: send it again later.`
  return new AnnexError(reason.code, message, { cause: error })
}

type Reason = { code: ErrorCode; what: string }

const full: Reason = { code: 'storage_full', what: 'The disk of the database is full' }
const locked: Reason = { code: 'storage_busy', what: 'Somebody else has locked the database' }
const away: Reason = { code: 'storage_busy', what: 'The server of the database cannot be reached' }

/** Only what comes before a commit. Where a commit's answer is lost, nobody knows whether it was stored. */
const reasons: Readonly<Record<string, Reason>> = {
  SQLITE_FULL: full,
  SQLITE_IOERR: { code: 'storage_full', what: 'The disk of the database takes no more, or fails' },
  SQLITE_BUSY: locked,
  SQLITE_LOCKED: locked,
  // No connection came free in time.
  KnexTimeoutError: { code: 'storage_busy', what: 'The database has too much to do' },
  ECONNREFUSED: away,
  // Of PostgreSQL (its appendix "Error Codes").
  '53100': full,
  '53300': away,
  '55P03': locked,
  '57P03': away,
}
