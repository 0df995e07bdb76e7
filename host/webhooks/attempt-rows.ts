import type { AttemptRow } from '../db/queries/attempts.ts'
import type { Delivery } from '../db/queries/deliveries.ts'
import type { Attempt } from './send-attempt.ts'

/** An attempt as it is stored. */
export function toRow(deliveryId: string, number: number, attempt: Attempt): Omit<AttemptRow, 'id'> {
  return {
    deliveryId,
    number,
    startedAt: attempt.startedAtMs,
    durationMs: attempt.durationMs,
    outcome: attempt.outcome,
    status: attempt.status ?? null,
    requestHeaders: JSON.stringify(attempt.requestHeaders),
    responseHeaders: attempt.responseHeaders === undefined ? null : JSON.stringify(attempt.responseHeaders),
    responseBody: attempt.responseBody ?? null,
    errorCode: attempt.error?.code ?? null,
    errorMessage: attempt.error?.message ?? null,
    timing: JSON.stringify(attempt.timing),
  }
}

/** An attempt that was in flight when its host ended. */
export function toInterrupted(
  { id, attempts }: Pick<Delivery, 'id' | 'attempts'>,
  startedAt: number,
  nowMs: number,
): Omit<AttemptRow, 'id'> {
  return {
    deliveryId: id,
    number: attempts + 1,
    startedAt,
    durationMs: Math.max(0, nowMs - startedAt),
    outcome: 'interrupted',
    status: null,
    requestHeaders: '[]',
    responseHeaders: null,
    responseBody: null,
    errorCode: null,
    errorMessage: 'The host ended during this attempt. The receiver may or may not have the delivery.',
    timing: null,
  }
}
