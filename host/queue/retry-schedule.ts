import { parseRetryAfter } from './retry-after.ts'

export type RetrySchedule = {
  /** Base delay before each retry, in ms; as many retries as there are delays. */
  readonly delaysMs: readonly number[]
  /** The largest part of the base delay that chance adds to it. Never taken away: spec 8's table. */
  readonly jitter: number
  /** The longest wait that a receiver's Retry-After can ask for, in ms. */
  readonly retryAfterCapMs: number
}

/** Spec 8: three retries after the first attempt, 1, 2 and 4 s plus 0 to 10 %. */
export const defaultSchedule: RetrySchedule = {
  delaysMs: [1_000, 2_000, 4_000],
  jitter: 0.1,
  retryAfterCapMs: 3_600_000,
}

/** What came of an attempt: the status of the answer, or the error that there was instead of one. */
export type Outcome = {
  status?: number | undefined
  /** The answer's Retry-After header. */
  retryAfter?: string | undefined
  error?: { code: string } | undefined
}

/**
 * - `exhausted`: what could be tried again has been tried as often as the schedule says
 * - `rejected`: the receiver answered with a status that another attempt would not change
 * - `redirect`: the receiver is elsewhere; redirects are not followed
 * - `refused`: Annex may not send there, or the URL cannot be used
 */
export type FailureReason = 'exhausted' | 'rejected' | 'redirect' | 'refused'

export type NextStep =
  | { state: 'delivered' }
  | { state: 'failed'; reason: FailureReason }
  | { state: 'due'; dueAtMs: number }

/**
 * What becomes of a delivery after an attempt (spec 7 and 8). 2xx: delivered. Network errors, 429 and 5xx: due
 * again, later when the receiver's Retry-After on a 429 or 503 says so. All else: failed.
 *
 * @param attemptNumber 1 for the first attempt, which is no retry
 * @param chance.random a number from 0 to below 1, as `Math.random` gives it
 */
export function nextStep(
  schedule: RetrySchedule,
  attemptNumber: number,
  outcome: Outcome,
  chance: { nowMs: number; random: () => number },
): NextStep {
  const { status } = outcome
  if (status !== undefined && status >= 200 && status < 300) return { state: 'delivered' }
  const reason = reasonNotToRetry(outcome)
  if (reason !== undefined) return { state: 'failed', reason }
  const baseMs = schedule.delaysMs[attemptNumber - 1]
  if (baseMs === undefined) return { state: 'failed', reason: 'exhausted' }
  const waitMs = Math.max(baseMs, askedForMs(outcome, chance.nowMs, schedule.retryAfterCapMs))
  // On top of what the receiver asked for too: else all deliveries that it turned away come back at once.
  const jitterMs = baseMs * schedule.jitter * chance.random()
  return { state: 'due', dueAtMs: Math.floor(chance.nowMs + waitMs + jitterMs) }
}

function reasonNotToRetry({ status, error }: Outcome): FailureReason | undefined {
  if (status === undefined) return error !== undefined && permanent.has(error.code) ? 'refused' : undefined
  if (status === 429 || (status >= 500 && status < 600)) return undefined
  return status >= 300 && status < 400 ? 'redirect' : 'rejected'
}

/** Errors that come from the URL or the operator's settings: seconds later they are the same. */
const permanent: ReadonlySet<string> = new Set(['egress_refused', 'egress_loop', 'bad_request'])

function askedForMs({ status, retryAfter }: Outcome, nowMs: number, capMs: number): number {
  if (retryAfter === undefined || (status !== 429 && status !== 503)) return 0
  return Math.min(parseRetryAfter(retryAfter, nowMs) ?? 0, capMs)
}
