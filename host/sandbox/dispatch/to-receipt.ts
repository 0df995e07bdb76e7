import type { Receipt } from '../receipt.ts'
import type { DispatchContext } from '../target.ts'
import type { LiveDispatch } from './live-dispatch.ts'
import type { Usage } from './live-dispatches.ts'

/** What a dispatch that is over has used. */
export function toReceipt(live: LiveDispatch, usage: Usage): Receipt {
  return {
    ...emptyReceipt(live.queued.context, live.outcome),
    startedAtMs: live.startedAtMs,
    cpuMs: usage.cpuMs,
    wallMs: (live.answeredMs ?? performance.now()) - live.sentMs,
    heapBytes: usage.heapBytes,
    egressCalls: live.egressCalls,
    egressBytes: live.egressBytes,
    hostCalls: live.calls,
    ...(live.status !== undefined && { status: live.status }),
  }
}

/** Of a dispatch that reached no sandbox: it has used nothing, but that it was refused is known all the same. */
export function emptyReceipt(context: DispatchContext, outcome: string): Receipt {
  const { requestId, integration, installationId, organizationId, event } = context
  return {
    requestId,
    integration,
    ...(installationId !== undefined && { installationId }),
    ...(organizationId !== undefined && { organizationId }),
    type: event?.type ?? 'fetch',
    startedAtMs: Date.now(),
    ...{ cpuMs: 0, wallMs: 0, heapBytes: 0, egressCalls: 0, egressBytes: 0, hostCalls: 0 },
    outcome,
  }
}
