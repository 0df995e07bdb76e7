import type { Origin } from '../access/actor.ts'
import type { Db } from '../db/db.ts'
import { listInstallations } from '../db/queries/installations.ts'
import { deleteIntegration, listIntegrations } from '../db/queries/integrations.ts'
import { endLevel } from '../db/queries/uninstall.ts'
import { writeTransaction } from '../db/sql.ts'
import { recordAudit } from '../logs/audit.ts'

/**
 * Removes what a folder that is gone has left behind: integrations without a deployed version, with their versions. Their
 * scripts are gone: installations end without a last event.
 *
 * @param given.installations also integrations that are installed
 * @param given.dryRun removes nothing
 */
export async function pruneIntegrations(
  db: Db,
  { installations = false, dryRun = false }: { installations?: boolean; dryRun?: boolean },
  origin: Origin,
): Promise<{ name: string; installations: number }[]> {
  const pruned: { name: string; installations: number }[] = []
  for (const { name, versionId, organizationId } of await listIntegrations(db)) {
    if (versionId !== null) continue
    const installed = await listInstallations(db, { integration: name })
    if (installed.length > 0 && !installations) continue
    pruned.push({ name, installations: installed.length })
    if (dryRun) continue
    await writeTransaction(db, async (transaction) => {
      for (const { id } of installed) await endLevel(transaction, { installationId: id })
      await deleteIntegration(transaction, name)
      await recordAudit(transaction, origin, {
        action: 'integration.prune',
        organizationId,
        subject: { kind: 'integration', id: name },
        before: { installations: installed.length },
      })
    })
  }
  return pruned
}
