import type { Db } from '../db/db.ts'
import { lockTarget } from '../db/queries/installation-targets.ts'
import { lockInstallation } from '../db/queries/installations.ts'
import { AnnexError } from '../errors.ts'
import type { InstalledLevel } from './level-settings.ts'

/**
 * Reads and locks the level: edits run one after the other, as each rewrites one JSON text.
 *
 * @throws AnnexError `not_found` when it has been uninstalled since it was read
 */
export async function lockLevel(
  transaction: Db,
  { installation, target }: InstalledLevel,
): Promise<InstalledLevel> {
  if (target === undefined) {
    const now = await lockInstallation(transaction, installation.id)
    return { installation: stillThere(installation, now, installation.id) }
  }
  const now = await lockTarget(transaction, target)
  return { installation, target: stillThere(target, now, `${installation.id} in ${target.targetId}`) }
}

/** A level that was being uninstalled when it was read stays so: its last event edits it. */
function stillThere<Row extends { removingAt: number | null }>(
  before: Row,
  now: Row | undefined,
  name: string,
): Row {
  if (now !== undefined && (before.removingAt !== null || now.removingAt === null)) return now
  throw new AnnexError('not_found', `${name} has just been uninstalled.`)
}
