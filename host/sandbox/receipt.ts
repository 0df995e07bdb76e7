import { fineOutcomes } from '../db/queries/receipts.ts'
import type { OutboundRequests } from '../egress/outbound-requests.ts'
import type { DispatchContext } from './target.ts'

/** The resources that one dispatch used, `waitUntil` included. Each dispatch has exactly one receipt, failed ones too. */
export type Receipt = {
  requestId: string
  integration: string
  installationId?: string
  organizationId?: string
  /** `event.type` of the dispatch: `fetch`, `task`, `space_content_updated` … */
  type: string
  /** The event or task that it was for. */
  eventId?: string
  /** When it was sent to its sandbox, in ms since 1970. */
  startedAtMs: number
  /** CPU time of the isolate. */
  cpuMs: number
  /** From being sent until its answer. */
  wallMs: number
  /** The largest heap of the isolate that was seen during the dispatch. */
  heapBytes: number
  /** Outbound requests, and the bytes of their bodies both ways. */
  egressCalls: number
  egressBytes: number
  /** Requests to the API of Annex included. */
  requests?: OutboundRequests
  /** All host calls, outbound requests included. */
  hostCalls: number
  /** Deliveries and tasks that it has queued. */
  deliveries: number
  tasks: number
  /**
   * `ok`; `no_handler` for an event or task without a handler in the script; `script_error` when the script threw; else
   * the code of the error that ended the dispatch.
   */
  outcome: string
  /** HTTP status of the answer, where the script gave one. */
  status?: number
}

export const isOk = ({ outcome }: Pick<Receipt, 'outcome'>): boolean => fineOutcomes.includes(outcome)

/** Runs for each dispatch, so it must cost next to nothing. */
export type OnReceipt = (receipt: Receipt) => void

/** The receipt of a dispatch that has used nothing. A refused dispatch has such a receipt. */
export function emptyReceipt(
  { requestId, integration, installationId, organizationId, event }: DispatchContext,
  outcome: string,
  startedAtMs = Date.now(),
): Receipt {
  return {
    requestId,
    integration,
    installationId,
    organizationId,
    type: event?.type ?? 'fetch',
    eventId: event?.id,
    startedAtMs,
    cpuMs: 0,
    wallMs: 0,
    heapBytes: 0,
    egressCalls: 0,
    egressBytes: 0,
    requests: undefined,
    hostCalls: 0,
    deliveries: 0,
    tasks: 0,
    outcome,
    status: undefined,
  }
}

/** A time of a hostile sandbox process, which may send any number: rounded to µs, and 0 where it is invalid. */
export const measured = (ms: number): number =>
  Number.isFinite(ms) && ms > 0 ? Math.round(ms * 1_000) / 1_000 : 0
