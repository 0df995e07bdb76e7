import type { Manifest } from '../../schemas/generated/manifest.ts'
import type { Origin } from '../access/actor.ts'
import type { Db } from '../db/db.ts'
import { installationOf, keyOf, type Level, markRemoving } from '../db/queries/levels.ts'
import { deletePendingEvents, endLevel } from '../db/queries/uninstall.ts'
import { transact } from '../db/sql.ts'
import { keyOfRef, type LevelRef } from '../sandbox/level-ref.ts'
import { auditLevel } from './audit-level.ts'
import { previousOf } from './level-settings.ts'
import { lockLevel } from './lock-level.ts'
import { queueDeleted } from './setup-event.ts'

/**
 * Uninstalls an integration from an organization, a site or a space. People and visitors no longer find the level. Its script
 * handles one last event, and then the level ends (`endAfterLastEvent`). Without a script that can run it ends at once.
 *
 * @throws AnnexError `not_found` when another request has uninstalled it
 */
export async function uninstall(
  db: Db,
  manifest: Manifest | undefined,
  level: Level,
  origin: Origin,
): Promise<void> {
  await transact(db, async (transaction) => {
    const key = keyOf(level)
    const before = await lockLevel(transaction, level)
    await markRemoving(transaction, key)
    const installation = installationOf(before)
    await auditLevel(transaction, origin, before, {
      action: 'installation.delete',
      before: { integration: installation.integration },
    })
    await deletePendingEvents(transaction, key)
    const isHeld = installation.status === 'suspended' || installation.isUnreadable
    const isRun = manifest?.script !== undefined && !isHeld && !before.isUnreadable
    if (!isRun) return endLevel(transaction, key)
    await queueDeleted(transaction, before, previousOf(manifest, before))
  })
}

/**
 * Ends levels whose script has handled the last event, or has failed to. A step of a group commit.
 *
 * The event is retried as any other. Its failure keeps no level alive: an installer must be able to uninstall a broken script.
 */
export async function endAfterLastEvent(transaction: Db, refs: readonly LevelRef[]): Promise<[]> {
  for (const ref of refs) if (ref.kind !== 'integration') await endLevel(transaction, keyOfRef(ref))
  return []
}
