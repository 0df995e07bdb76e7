import type { Receipt } from '../../schemas/generated/api/receipts.ts'
import type { Db } from '../db/db.ts'
import { listReceipts, type ReceiptRow, sumUsage } from '../db/queries/receipts.ts'
import type { ReceiptWriter } from '../sandbox/receipt-writer.ts'
import { numbersIn, ownOf, timeOf, toIso } from './list-query.ts'
import type { OnOperation } from './operations.ts'

const spans = { minute: 60_000, hour: 3_600_000, day: 86_400_000 }

export type ReceiptParts = { longReader: Db; receipts: ReceiptWriter }

/** Receipts of dispatches, and sums of their usage. The same tokens may read logs. */
export function addReceiptRoutes(on: OnOperation, { longReader, receipts }: ReceiptParts): void {
  on('listReceipts', async ({ caller, query }) => {
    const { integration, installation, request, event, limit, ...places } = query
    // Receipts of the last dispatches are stored first.
    await receipts.flush()
    const items = await listReceipts(longReader, {
      ...ownOf(caller),
      ...(integration !== undefined && { integration }),
      ...(installation !== undefined && { installationId: installation }),
      ...(request !== undefined && { requestId: request }),
      ...(event !== undefined && { eventId: event }),
      ...numbersIn(places),
      limit,
    })
    const last = items.at(-1)
    const isMore = items.length === limit && last !== undefined
    return {
      items: items.map(toReceipt),
      ...(isMore && { next: places.after === undefined ? { before: last.id } : { after: last.id } }),
      count: items.length,
    }
  })

  on('listUsage', async ({ caller, query }) => {
    const { integration, installation, before, by, limit } = query
    await receipts.flush()
    const items = await sumUsage(longReader, {
      ...ownOf(caller),
      ...(integration !== undefined && { integration }),
      ...(installation !== undefined && { installationId: installation }),
      ...(before !== undefined && { before: timeOf('before', before) }),
      spanMs: spans[by],
      limit,
    })
    const last = items.at(-1)
    const isMore = items.length === limit && last !== undefined
    return {
      items: items.map(({ at, ...sums }) => ({ object: 'usage' as const, at: toIso(at), ...sums })),
      ...(isMore && { next: { before: toIso(last.at) } }),
      count: items.length,
    }
  })
}

function toReceipt(receipt: ReceiptRow): Receipt {
  const { id, integration, installationId, requestId, type, startedAt, cpuMs, wallMs, heapBytes } = receipt
  const { egressCalls, egressBytes, hostCalls, outcome, status, eventId } = receipt
  return {
    object: 'receipt',
    id,
    request: requestId,
    integration,
    ...(installationId !== null && { installation: installationId }),
    type,
    ...(eventId !== null && { event: eventId }),
    outcome,
    ...(status !== null && { status }),
    startedAt: toIso(startedAt),
    cpuMs,
    wallMs,
    heapBytes,
    egressCalls,
    egressBytes,
    hostCalls,
  }
}
