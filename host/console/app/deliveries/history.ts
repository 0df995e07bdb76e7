import type { Attempt, DeliveryWithAttempts } from '../../../../schemas/generated/api/deliveries.ts'
import { findHeader } from './signature.ts'

/** What an attempt means for the delivery: `retry` is tried again, `final` is not, `repeat` does not count. */
export type Meaning = 'delivered' | 'retry' | 'final' | 'redirect' | 'gone' | 'repeat'

/** An attempt with what follows from it. `waitMs`: from its end to the next attempt. */
export type Step = {
  attempt: Attempt
  meaning: Meaning
  waitMs?: number
  /** The seconds, or the date, that the receiver asked to wait for. */
  retryAfter?: string
}

/** Attempts in their order. `hidden` ones lie between the first and the newest. */
export type History = { first: Step[]; hidden: Step[]; last: Step[] }

/** A delivery that is sent again every day has many attempts: the newest ones matter, and the first one. */
const shownFirst = 1
const shownLast = 6

export function toHistory(attempts: readonly Attempt[]): History {
  const steps = attempts.map((attempt, at) => toStep(attempt, attempts[at + 1]))
  if (steps.length <= shownFirst + shownLast + 1) return { first: steps, hidden: [], last: [] }
  return {
    first: steps.slice(0, shownFirst),
    hidden: steps.slice(shownFirst, -shownLast),
    last: steps.slice(-shownLast),
  }
}

function toStep(attempt: Attempt, next: Attempt | undefined): Step {
  const waitMs =
    next && Math.max(0, Date.parse(next.startedAt) - Date.parse(attempt.startedAt) - attempt.durationMs)
  const retryAfter = findHeader(attempt.response?.headers ?? [], 'retry-after')
  return {
    attempt,
    meaning: meaningOf(attempt),
    ...(waitMs !== undefined && { waitMs }),
    ...(retryAfter !== undefined && { retryAfter }),
  }
}

/** As docs/retries.md says. */
function meaningOf({ outcome, response }: Attempt): Meaning {
  if (outcome === 'delivered') return 'delivered'
  if (outcome === 'interrupted') return 'repeat'
  const { status } = response ?? {}
  if (status === undefined || status === 429 || (status >= 500 && status < 600)) return 'retry'
  if (status === 410) return 'gone'
  return status < 400 ? 'redirect' : 'final'
}

/** How the delivery stands: `sending` has no due time, as an attempt runs or its receiver is paused. */
export type End = 'delivered' | 'failed' | 'waiting' | 'due' | 'sending'

export function endOf(
  { state, nextAttemptAt, attempts }: Pick<DeliveryWithAttempts, 'state' | 'nextAttemptAt' | 'attempts'>,
  nowMs: number,
): End {
  if (state !== 'pending') return state
  if (nextAttemptAt === undefined) return 'sending'
  return attempts > 0 && Date.parse(nextAttemptAt) > nowMs ? 'waiting' : 'due'
}

const saidByAttempt: ReadonlySet<string> = new Set(['exhausted', 'rejected', 'redirect'])

/**
 * A stored reason begins with its code: `exhausted: answered 503`. `said` is empty where the last attempt says the same.
 */
export function toReason(reason: string, last?: Attempt): { code: string; said: string } {
  const [, code = '', said = reason] = /^([a-z_]+): ?(.*)$/s.exec(reason) ?? []
  const isRepeated = last !== undefined && (saidByAttempt.has(code) || last.error?.message === said)
  return { code, said: isRepeated ? '' : said }
}
