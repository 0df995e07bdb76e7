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
    const now = await lockInstallation(transaction, installation)
    assertStays(installation, now, installation.id)
    return { installation: now }
  }
  const now = await lockTarget(transaction, target)
  assertStays(target, now, `${installation.id} in ${target.targetId}`)
  return { installation, target: now }
}

type Removable = { removingAt: number | null }

/** A row that has ended is the same object. */
function assertStays(before: Removable, now: Removable, name: string): void {
  if (now !== before && (before.removingAt !== null || now.removingAt === null)) return
  throw new AnnexError('not_found', `${name} has just been uninstalled.`)
}
