import type { Receipt } from '../receipt.ts'
import type { DispatchContext } from '../target.ts'
import type { LiveDispatch } from './live-dispatch.ts'
import type { Usage } from './live-dispatches.ts'

/** What a dispatch that is over has used. */
export function toReceipt(live: LiveDispatch, usage: Usage): Receipt {
  const receipt = emptyReceipt(live.queued.context, live.outcome, live.startedAtMs)
  receipt.cpuMs = usage.cpuMs
  receipt.wallMs = (live.answeredMs ?? performance.now()) - live.sentMs
  receipt.heapBytes = usage.heapBytes
  receipt.egressCalls = live.egressCalls
  receipt.egressBytes = live.egressBytes
  receipt.hostCalls = live.calls
  // An event has no visitor who could be told the status: it means that the script has no handler.
  if (receipt.eventId !== undefined && live.status === 406) receipt.outcome = 'no_handler'
  else if (live.status !== undefined) receipt.status = live.status
  return receipt
}

/** Of a dispatch that reached no sandbox: it has used nothing, but that it was refused is known all the same. */
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
    hostCalls: 0,
    outcome,
    status: undefined,
  }
}
