import type { Origin } from '../access/actor.ts'
import type { Db } from '../db/db.ts'
import { listRemaining } from '../db/queries/installations.ts'
import { deleteIntegration, listIntegrations, lockIntegration } from '../db/queries/integrations.ts'
import { keyOf } from '../db/queries/levels.ts'
import { endLevel } from '../db/queries/uninstall.ts'
import { transact } from '../db/sql.ts'
import { recordAudit } from '../logs/audit.ts'
import { auditLevel } from './audit-level.ts'

/** An integration, with the number of its installations. */
type Pruned = { name: string; installations: number }

/** `installations`: also integrations that are installed. `dryRun`: removes nothing. */
type Pruning = { installations?: boolean; dryRun?: boolean }

/**
 * Removes what a folder that is gone has left behind: integrations without a deployed version, with their versions. Their
 * scripts are gone: installations end without a last event.
 */
export async function pruneIntegrations(db: Db, pruning: Pruning, origin: Origin): Promise<Pruned[]> {
  const pruned: Pruned[] = []
  for (const { name, versionId } of await listIntegrations(db)) {
    if (versionId !== null) continue
    const found = await transact(db, (transaction) => prune(transaction, name, pruning, origin))
    if (found !== undefined) pruned.push(found)
  }
  return pruned
}

/** @returns undefined for an integration that stays */
async function prune(
  transaction: Db,
  name: string,
  { installations: isForced = false, dryRun = false }: Pruning,
  origin: Origin,
): Promise<Pruned | undefined> {
  const row = await lockIntegration(transaction, name)
  // Its folder has come back meanwhile.
  if (row === undefined || row.versionId !== null) return undefined
  const installed = await listRemaining(transaction, name)
  const pruned = { name, installations: installed.length }
  if (installed.length > 0 && !isForced) return undefined
  if (dryRun) return pruned
  const before = { integration: name }
  for (const installation of installed) {
    await endLevel(transaction, keyOf(installation))
    await auditLevel(transaction, origin, installation, { action: 'installation.delete', before })
  }
  await deleteIntegration(transaction, name)
  await recordAudit(transaction, origin, {
    action: 'integration.prune',
    organizationId: row.organizationId,
    subject: { kind: 'integration', id: name },
    before: { installations: installed.length },
  })
  return pruned
}
