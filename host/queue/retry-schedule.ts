import { parseRetryAfter } from './retry-after.ts'

export type RetrySchedule = {
  /** Base delay before each retry, in ms; as many retries as there are delays. */
  readonly delaysMs: readonly number[]
  /** The largest random part of the base delay. It is only added, as the spec's section 8 has shortest delays. */
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

/** The result of an attempt: the status of the answer, or the error without one. */
export type Outcome = {
  status?: number | undefined
  /** The answer's Retry-After header. */
  retryAfter?: string | undefined
  error?: { code: string } | undefined
}

/**
 * - `exhausted`: all retries of the schedule have failed
 * - `rejected`: the receiver answered with a status that is not retried
 * - `redirect`: the receiver answered with a redirect; redirects are not followed
 * - `refused`: the egress guard refuses the address, or the URL is invalid
 */
export type FailureReason = 'exhausted' | 'rejected' | 'redirect' | 'refused'

export type NextStep =
  | { state: 'delivered' }
  | { state: 'failed'; reason: FailureReason }
  | { state: 'due'; dueAtMs: number }

/**
 * Decides the next step of a delivery after an attempt (spec 7 and 8). 2xx: delivered. Network errors, 429 and 5xx: due
 * again, later if a 429 or 503 has a longer Retry-After. Others: failed.
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
  // Jitter also follows Retry-After: otherwise all rejected deliveries come back at once.
  const jitterMs = baseMs * schedule.jitter * chance.random()
  return { state: 'due', dueAtMs: Math.floor(chance.nowMs + waitMs + jitterMs) }
}

function reasonNotToRetry({ status, error }: Outcome): FailureReason | undefined {
  if (status === undefined) return error !== undefined && permanent.has(error.code) ? 'refused' : undefined
  if (status === 429 || (status >= 500 && status < 600)) return undefined
  return status >= 300 && status < 400 ? 'redirect' : 'rejected'
}

/** Errors of the URL or the operator's settings. A retry seconds later would fail as well. */
const permanent: ReadonlySet<string> = new Set(['egress_refused', 'egress_loop', 'bad_request'])

function askedForMs({ status, retryAfter }: Outcome, nowMs: number, capMs: number): number {
  if (retryAfter === undefined || (status !== 429 && status !== 503)) return 0
  return Math.min(parseRetryAfter(retryAfter, nowMs) ?? 0, capMs)
}
