import type { AttemptRow } from '../db/queries/attempts.ts'
import type { ListedDelivery } from '../db/queries/operating/list-deliveries.ts'
import { toIso } from './to-iso.ts'

/** A delivery as the API shows it. `nextAttemptAt` is there while it is owed and due at a time. */
export function toDeliveryView(delivery: ListedDelivery): object {
  const { id, eventId, eventType, installationId, endpointId, signedBy, url, state, reason } = delivery
  const { attempts, createdAt, nextAttemptAt, finishedAt } = delivery
  return {
    object: 'delivery',
    id,
    state,
    ...(reason !== null && { reason }),
    event: { id: eventId, type: eventType },
    installation: installationId,
    endpoint: endpointId,
    signedBy,
    url,
    attempts,
    createdAt: toIso(createdAt),
    ...(nextAttemptAt !== null && { nextAttemptAt: toIso(nextAttemptAt) }),
    ...(finishedAt !== null && { finishedAt: toIso(finishedAt) }),
  }
}

/**
 * An attempt as the API shows it. `timing` has `dnsMs`, `connectMs`, `tlsMs` and `firstByteMs`, as far as it came;
 * `response.body` is the first 4 KiB.
 */
export function toAttemptView(attempt: AttemptRow): object {
  const { id, number, startedAt, durationMs, outcome, status, errorCode, errorMessage } = attempt
  return {
    object: 'attempt',
    id,
    number,
    outcome,
    startedAt: toIso(startedAt),
    durationMs,
    ...(attempt.timing !== null && { timing: JSON.parse(attempt.timing) }),
    request: { headers: JSON.parse(attempt.requestHeaders) },
    ...(status !== null && {
      response: {
        status,
        headers: JSON.parse(attempt.responseHeaders ?? '[]'),
        body: attempt.responseBody ?? '',
      },
    }),
    ...(errorMessage !== null && { error: { code: errorCode ?? outcome, message: errorMessage } }),
  }
}
