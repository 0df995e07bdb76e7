import type { DispatchLimits } from '../../schemas/generated/api/usage.ts'
import type { Db } from '../db/db.ts'
import { sumUsageByInstallation } from '../db/queries/usage-by-installation.ts'
import type { ReceiptWriter } from '../sandbox/receipt-writer.ts'
import { ownerOf } from './caller.ts'
import { toIso } from './list-query.ts'
import type { OnOperation } from './operations.ts'

type LimitSettings = {
  SANDBOX_CPU_MS: number
  SANDBOX_HEAP_MB: number
  SANDBOX_FETCHES: number
  SANDBOX_CALLS: number
}
type UsageParts = { db: Db; longReader: Db; receipts: ReceiptWriter; settings: LimitSettings }

const spans = { hour: 3_600_000, day: 86_400_000, week: 7 * 86_400_000 }

/** What each installation used, and what one dispatch may use. */
export function addUsageRoutes(on: OnOperation, { db, longReader, receipts, settings }: UsageParts): void {
  on('GET /v1/usage/installations', async ({ caller, query: { organization, span, limit } }) => {
    const owner = await ownerOf(db, caller, organization)
    const fromMs = Date.now() - spans[span]
    await receipts.flush()
    const rows = await sumUsageByInstallation(longReader, { ...owner, fromMs, limit })
    const items = rows.map(({ integration, installationId, ...sums }) => ({
      object: 'installation_usage' as const,
      integration,
      ...(installationId !== null && { installation: installationId }),
      ...sums,
    }))
    return { items, count: items.length, from: toIso(fromMs), limits: toLimits(settings) }
  })
}

const toLimits = (settings: LimitSettings): DispatchLimits => ({
  cpuMs: settings.SANDBOX_CPU_MS,
  heapBytes: settings.SANDBOX_HEAP_MB * 2 ** 20,
  egressCalls: settings.SANDBOX_FETCHES,
  hostCalls: settings.SANDBOX_CALLS,
})
