import type { Manifest } from '../../schemas/generated/manifest.ts'
import type { Origin } from '../access/actor.ts'
import type { Db } from '../db/db.ts'
import { deletePendingEvents, endLevel, markRemoving, type RemovedLevel } from '../db/queries/uninstall.ts'
import { writeTransaction } from '../db/sql.ts'
import type { Level } from '../sandbox/level.ts'
import { auditLevel } from './audit-level.ts'
import { type InstalledLevel, previousOf } from './level-settings.ts'
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
  level: InstalledLevel,
  origin: Origin,
): Promise<void> {
  await writeTransaction(db, async (transaction) => {
    const removed = toRemoved(level)
    const before = await lockLevel(transaction, level)
    await markRemoving(transaction, removed)
    await auditLevel(transaction, origin, before, {
      action: 'installation.delete',
      before: { integration: before.installation.integration },
    })
    await deletePendingEvents(transaction, removed)
    const stored = before.target ?? before.installation
    const isHeld = before.installation.status === 'suspended' || before.installation.isUnreadable
    const isRun = manifest?.script !== undefined && !isHeld && !stored.isUnreadable
    if (!isRun) return endLevel(transaction, removed)
    await queueDeleted(transaction, before, previousOf(manifest, before))
  })
}

/**
 * Ends levels whose script has handled the last event, or has failed to. A step of a group commit.
 *
 * The event is retried as any other. Its failure keeps no level alive: an installer must be able to uninstall a broken script.
 */
export async function endAfterLastEvent(transaction: Db, levels: readonly Level[]): Promise<[]> {
  for (const level of levels) {
    if (level.kind === 'integration') continue
    const { installationId, ...rest } = level
    const target = 'targetId' in rest ? { kind: rest.kind, targetId: rest.targetId } : undefined
    await endLevel(transaction, { installationId, ...(target && { target }) })
  }
  return []
}

function toRemoved({ installation, target }: InstalledLevel): RemovedLevel {
  const { kind, targetId } = target ?? {}
  const isTarget = kind !== undefined && targetId !== undefined
  return { installationId: installation.id, ...(isTarget && { target: { kind, targetId } }) }
}
