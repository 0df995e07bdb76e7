import type Router from '@koa/router'
import type { Db } from '../db/db.ts'
import { listReceipts, type ReceiptRow, sumUsage } from '../db/queries/receipts.ts'
import { AnnexError } from '../errors.ts'
import type { ReceiptWriter } from '../sandbox/receipt-writer.ts'
import type { Authenticate } from './caller.ts'
import { limitOf, numbersIn, ownOf, texts, timeOf, toIso } from './list-query.ts'

const spans: Readonly<Record<string, number>> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 }

export type ReceiptParts = { longReader: Db; authenticate: Authenticate; receipts: ReceiptWriter }

/** Receipts of dispatches, and sums of their usage. The same tokens may read logs. */
export function addReceiptRoutes(router: Router, { longReader, authenticate, receipts }: ReceiptParts): void {
  /**
   * Lists receipts, the newest first, or with `after` the first ones after that receipt. Filters: `integration`, `installation`,
   * `request`, `event`, `before` and `after` (a receipt's id), `limit` (to 200).
   */
  router.get('/v1/receipts', async (context) => {
    const own = ownOf(await authenticate(context))
    const names = ['integration', 'installation', 'request', 'event', 'before', 'after'] as const
    const { integration, installation, request, event, ...places } = texts(context.query, names)
    const limit = limitOf(context.query)
    // Receipts of the last dispatches are stored first.
    await receipts.flush()
    const items = await listReceipts(longReader, {
      ...own,
      ...(integration !== undefined && { integration }),
      ...(installation !== undefined && { installationId: installation }),
      ...(request !== undefined && { requestId: request }),
      ...(event !== undefined && { eventId: event }),
      ...numbersIn(places),
      limit,
    })
    const last = items.at(-1)
    const isMore = items.length === limit && last !== undefined
    context.body = {
      items: items.map(toReceiptView),
      ...(isMore && { next: places.after === undefined ? { before: last.id } : { after: last.id } }),
      count: items.length,
    }
  })

  /**
   * Sums usage `by` minute, hour (the default) or day, the newest first. Filters: `integration`, `installation`, `before` (a
   * time), `limit` (to 200).
   */
  router.get('/v1/usage', async (context) => {
    const own = ownOf(await authenticate(context))
    const names = ['integration', 'installation', 'by', 'before'] as const
    const { integration, installation, before, by = 'hour' } = texts(context.query, names)
    const spanMs = Object.hasOwn(spans, by) ? spans[by] : undefined
    if (spanMs === undefined) {
      throw new AnnexError('bad_request', `by is one of ${Object.keys(spans).join(', ')}, not "${by}".`)
    }
    const limit = limitOf(context.query)
    await receipts.flush()
    const items = await sumUsage(longReader, {
      ...own,
      ...(integration !== undefined && { integration }),
      ...(installation !== undefined && { installationId: installation }),
      ...(before !== undefined && { before: timeOf('before', before) }),
      spanMs,
      limit,
    })
    const last = items.at(-1)
    const isMore = items.length === limit && last !== undefined
    context.body = {
      items: items.map(({ at, ...sums }) => ({ object: 'usage', at: toIso(at), ...sums })),
      ...(isMore && { next: { before: toIso(last.at) } }),
      count: items.length,
    }
  })
}

function toReceiptView(receipt: ReceiptRow): object {
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
