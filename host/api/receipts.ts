import type { OutboundRequest, Receipt } from '../../schemas/generated/api/receipts.ts'
import type { Db } from '../db/db.ts'
import { findSiteOfEvent } from '../db/queries/events.ts'
import { toStoredName } from '../db/queries/integrations.ts'
import { findReceipt, type ListedReceipt, listReceipts, sumUsage } from '../db/queries/receipts.ts'
import type { StoredRequest, StoredRequests } from '../egress/outbound-requests.ts'
import { AnnexError } from '../errors.ts'
import type { ReceiptWriter } from '../sandbox/receipt-writer.ts'
import { ownerOf, ownOf } from './caller.ts'
import { listPage, numberCursor, spanOf, toIso } from './list-query.ts'
import type { OnOperation } from './operations.ts'

const spans = { minute: 60_000, hour: 3_600_000, day: 86_400_000 }

type ReceiptParts = { db: Db; longReader: Db; receipts: ReceiptWriter }

/** Receipts of dispatches, and sums of their usage. The same tokens may read logs. */
export function addReceiptRoutes(on: OnOperation, { db, longReader, receipts }: ReceiptParts): void {
  on('GET /v1/receipts', async (request) => {
    const { organization, integration, installation, request: requestId, event } = request.query
    const { type, outcome, after: from } = request.query
    const where = {
      ...(await ownerOf(longReader, request.caller, organization)),
      ...(integration !== undefined && { integration: await toStoredName(longReader, integration) }),
      ...(installation !== undefined && { installationId: installation }),
      ...(requestId !== undefined && { requestId }),
      ...(event !== undefined && { eventId: event }),
      ...(type !== undefined && { type }),
      ...(outcome !== undefined && { outcome }),
      ...spanOf(request.query),
    }
    // Receipts of the last dispatches are stored first.
    await receipts.flush()
    return listPage(request, {
      cursor: numberCursor,
      cursorOf: ({ id }) => String(id),
      // With `after` the pages go forward from that receipt, else back from the newest one.
      read({ after, limit }) {
        if (from !== undefined)
          return listReceipts(longReader, { ...where, after: Number(after ?? from), limit })
        const before = after === undefined ? {} : { before: Number(after) }
        return listReceipts(longReader, { ...where, ...before, limit })
      },
      toView: toReceipt,
    })
  })

  on('GET /v1/receipts/{receipt}', async ({ caller, params }) => {
    await receipts.flush()
    const found = numberCursor.test(params.receipt)
      ? await findReceipt(longReader, Number(params.receipt), ownOf(caller))
      : undefined
    if (found === undefined)
      throw new AnnexError('not_found', `There is no receipt ${params.receipt} that you may see.`)
    const { requests, leftOut }: StoredRequests = JSON.parse(found.outboundRequests ?? noRequests)
    const { installationId, eventId } = found
    const isOfEvent = installationId !== null && eventId !== null
    const site = isOfEvent ? await findSiteOfEvent(longReader, { installationId, eventId }) : undefined
    return {
      ...toReceipt(found),
      ...(site !== undefined && { site }),
      outboundRequests: requests.map(toOutboundRequest),
      outboundRequestsLeftOut: leftOut,
    }
  })

  on('GET /v1/usage', async (request) => {
    const { organization, integration, installation, by } = request.query
    const where = {
      ...(await ownerOf(db, request.caller, organization)),
      ...(integration !== undefined && { integration: await toStoredName(longReader, integration) }),
      ...(installation !== undefined && { installationId: installation }),
      spanMs: spans[by],
    }
    await receipts.flush()
    return listPage(request, {
      cursor: numberCursor,
      read: ({ after, limit }) =>
        sumUsage(longReader, { ...where, ...(after !== undefined && { before: Number(after) }), limit }),
      cursorOf: ({ at }) => String(at),
      toView: ({ at, ...sums }) => ({ object: 'usage' as const, at: toIso(at), ...sums }),
    })
  })
}

const noRequests = JSON.stringify({ requests: [], leftOut: 0 } satisfies StoredRequests)

const toOutboundRequest = ({ own = false, startedAt, ...request }: StoredRequest): OutboundRequest => ({
  ...request,
  own,
  startedAt: toIso(startedAt),
})

function toReceipt(receipt: ListedReceipt): Receipt {
  const { id, integration, installationId, requestId, type, startedAt, cpuMs, wallMs, heapBytes } = receipt
  const { egressCalls, egressBytes, hostCalls, deliveries, tasks, outcome, status, eventId } = receipt
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
    deliveries,
    tasks,
  }
}
