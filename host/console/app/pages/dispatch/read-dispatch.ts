import type { Delivery } from '../../../../../schemas/generated/api/deliveries.ts'
import type { LogLine } from '../../../../../schemas/generated/api/logs.ts'
import type { ReceiptWithRequests } from '../../../../../schemas/generated/api/receipts.ts'
import { api } from '../../api.ts'

/** A request to the API may ask several scripts: each is a dispatch, with a receipt. */
export type ReadDispatch = {
  receipts: ReceiptWithRequests[]
  lines: LogLine[]
  /** Older lines were left out. */
  hasMoreLines: boolean
  deliveries: Delivery[]
  /** How often the script ran for the same event. */
  runs: number
}

const mostReceipts = 20
const mostLines = 200

/** Reads all that Annex keeps of a dispatch, by the id of its request. */
export async function readDispatch(org: string, request: string, signal: AbortSignal): Promise<ReadDispatch> {
  const ofOrganization = { organization: org }
  const [list, logs, deliveries] = await Promise.all([
    api.call('GET /v1/receipts', { query: { ...ofOrganization, request, limit: mostReceipts }, signal }),
    api.call('GET /v1/logs', { query: { request, limit: mostLines }, signal }),
    api.call('GET /v1/deliveries', { query: { ...ofOrganization, request, limit: 100 }, signal }),
  ])
  const receipts = await Promise.all(
    list.items.map(({ id }) =>
      api.call('GET /v1/receipts/{receipt}', { params: { receipt: String(id) }, signal }),
    ),
  )
  const [{ event, installation } = {}] = receipts
  const runs =
    event === undefined || installation === undefined
      ? 1
      : (
          await api.call('GET /v1/receipts', {
            query: { ...ofOrganization, event, installation, limit: 100 },
            signal,
          })
        ).count
  return {
    receipts: receipts.reverse(),
    lines: logs.items,
    hasMoreLines: logs.next !== undefined,
    deliveries: deliveries.items,
    runs,
  }
}
