import type { Receipt } from '../receipt.ts'
import type { LiveDispatch } from './live-dispatch.ts'
import type { Usage } from './live-dispatches.ts'

/** What a dispatch that is over has used. */
export function toReceipt(live: LiveDispatch, usage: Usage): Receipt {
  const { requestId, integration, installationId, organizationId, event } = live.queued.context
  return {
    requestId,
    integration,
    ...(installationId !== undefined && { installationId }),
    ...(organizationId !== undefined && { organizationId }),
    type: event?.type ?? 'fetch',
    startedAtMs: live.startedAtMs,
    cpuMs: usage.cpuMs,
    wallMs: (live.answeredMs ?? performance.now()) - live.sentMs,
    heapBytes: usage.heapBytes,
    egressCalls: live.egressCalls,
    egressBytes: live.egressBytes,
    hostCalls: live.calls,
    outcome: live.outcome,
  }
}
