import type { Db } from '../db/db.ts'
import { type Level, lockRow } from '../db/queries/levels.ts'
import { AnnexError } from '../errors.ts'
import { nameOfLevel } from './level-settings.ts'

/**
 * Reads and locks the level: edits run one after the other, as each rewrites one JSON text. A level that was being uninstalled when
 * it was read stays so: its last event edits it.
 *
 * @throws AnnexError `not_found` when it has been uninstalled since it was read
 */
export async function lockLevel<Kind extends Level>(transaction: Db, level: Kind): Promise<Kind> {
  const now = await lockRow(transaction, level)
  if (now !== undefined && (level.removingAt !== null || now.removingAt === null)) return now as Kind
  throw new AnnexError('not_found', `${nameOfLevel(level)} has just been uninstalled.`)
}
