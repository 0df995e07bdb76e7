import type { Db } from '../db.ts'
import { type UsageRow, usageOwnersIn, usageSums } from './receipts.ts'

export type InstallationUsage = Omit<UsageRow, 'owner' | 'minute'>

/** Sums usage since a time by its owner: an installation, or an integration. Those with the most CPU time first. */
export async function sumUsageByInstallation(
  db: Db,
  { organizationId, fromMs, limit }: { organizationId?: string; fromMs: number; limit: number },
): Promise<InstallationUsage[]> {
  const query = db('usage')
    .select('integration', 'installationId')
    .where('minute', '>=', fromMs)
    .groupBy('owner', 'integration', 'installationId')
    .orderBy([
      { column: 'cpuMs', order: 'desc' },
      { column: 'owner', order: 'asc' },
    ])
    .limit(limit)
  for (const name of usageSums) query.sum({ [name]: name })
  query.max({ maxHeapBytes: 'maxHeapBytes' })
  if (organizationId !== undefined) query.whereIn('owner', usageOwnersIn(db, organizationId))
  const rows: InstallationUsage[] = await query
  // PostgreSQL sums whole numbers to `numeric`, which comes as text.
  const toNumbers = (row: InstallationUsage) =>
    Object.fromEntries([...usageSums, 'maxHeapBytes' as const].map((name) => [name, Number(row[name])]))
  return rows.map((row) => ({ ...row, ...toNumbers(row) }))
}
