import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { parseRetryAfter } from '../../host/queue/retry-after.ts'
import {
  defaultSchedule,
  nextStep,
  type Outcome,
  type RetrySchedule,
} from '../../host/queue/retry-schedule.ts'

const nowMs = Date.UTC(2026, 0, 15, 12, 0, 0)
const hour = 3_600_000
const lowest = { nowMs, random: () => 0 }
const step = (attempt: number, outcome: Outcome, random = 0) =>
  nextStep(defaultSchedule, attempt, outcome, { nowMs, random: () => random })

const networkError: Outcome = { error: { code: 'egress_failed' } }

describe('the retry schedule', () => {
  for (const [attempt, from, to] of [
    [1, 1_000, 1_100],
    [2, 2_000, 2_200],
    [3, 4_000, 4_400],
  ] as const) {
    it(`waits ${from} to ${to} ms after attempt ${attempt}`, () => {
      assert.deepEqual(step(attempt, { status: 500 }, 0), { state: 'due', dueAtMs: nowMs + from })
      assert.deepEqual(step(attempt, { status: 500 }, 0.5), {
        state: 'due',
        dueAtMs: nowMs + (from + to) / 2,
      })
      const latest = step(attempt, { status: 500 }, 1 - Number.EPSILON)
      assert.ok(latest.state === 'due' && latest.dueAtMs <= nowMs + to && latest.dueAtMs >= nowMs + to - 1)
    })
  }

  it('gives up after the third retry', () => {
    assert.deepEqual(step(4, { status: 500 }), { state: 'failed', reason: 'exhausted' })
    assert.deepEqual(step(4, networkError), { state: 'failed', reason: 'exhausted' })
    assert.deepEqual(step(4, { status: 429, retryAfter: '1' }), { state: 'failed', reason: 'exhausted' })
    assert.deepEqual(step(4, { status: 200 }), { state: 'delivered' })
  })

  const verdicts: [string, Outcome, string][] = [
    ['200', { status: 200 }, 'delivered'],
    ['201', { status: 201 }, 'delivered'],
    ['204', { status: 204 }, 'delivered'],
    ['299', { status: 299 }, 'delivered'],
    ['301', { status: 301 }, 'redirect'],
    ['302', { status: 302 }, 'redirect'],
    ['304', { status: 304 }, 'redirect'],
    ['400', { status: 400 }, 'rejected'],
    ['401', { status: 401 }, 'rejected'],
    ['404', { status: 404 }, 'rejected'],
    ['408', { status: 408 }, 'rejected'],
    ['410', { status: 410 }, 'rejected'],
    ['429', { status: 429 }, 'due'],
    ['499', { status: 499 }, 'rejected'],
    ['500', { status: 500 }, 'due'],
    ['503', { status: 503 }, 'due'],
    ['599', { status: 599 }, 'due'],
    ['600', { status: 600 }, 'rejected'],
    ['999', { status: 999 }, 'rejected'],
    ['a refused connection', networkError, 'due'],
    ['a timeout', { error: { code: 'egress_timeout' } }, 'due'],
    ['headers that are too large', { error: { code: 'egress_too_large' } }, 'due'],
    ['a private address', { error: { code: 'egress_refused' } }, 'refused'],
    ['an invalid URL', { error: { code: 'bad_request' } }, 'refused'],
    ['a loop', { error: { code: 'egress_loop' } }, 'refused'],
    ['an attempt without a known outcome', {}, 'due'],
  ]
  for (const [what, outcome, expected] of verdicts) {
    it(`${what}: ${expected}`, () => {
      const next = step(1, outcome)
      assert.equal(next.state === 'failed' ? next.reason : next.state, expected)
    })
  }

  it('honours a later Retry-After on 429 and 503 only', () => {
    const waitOf = (status: number, retryAfter: string): number => {
      const next = step(1, { status, retryAfter })
      return next.state === 'due' ? next.dueAtMs - nowMs : Number.NaN
    }
    assert.equal(waitOf(429, '30'), 30_000)
    assert.equal(waitOf(503, 'Thu, 15 Jan 2026 12:01:00 GMT'), 60_000)
    assert.equal(waitOf(429, '0'), 1_000)
    assert.equal(waitOf(503, 'Thu, 15 Jan 2026 11:00:00 GMT'), 1_000)
    assert.equal(waitOf(500, '30'), 1_000)
    assert.equal(waitOf(429, '86400'), hour)
    assert.equal(waitOf(429, '9'.repeat(400)), hour)
    assert.equal(waitOf(503, 'Fri, 31 Dec 9999 23:59:59 GMT'), hour)
    assert.equal(waitOf(429, 'soon'), 1_000)
  })

  const anyHeader = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.integer().map(String),
    fc.bigInt().map(String),
    fc.double().map(String),
    fc.date().map(String),
    fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
  )
  const anyError = fc.constantFrom('egress_failed', 'egress_timeout', 'egress_too_large', 'sandbox_died')
  const anyOutcome: fc.Arbitrary<Outcome> = fc.record({
    status: fc.option(
      fc.oneof(fc.constantFrom(200, 302, 410, 429, 500, 503), fc.integer({ min: 100, max: 999 })),
      {
        nil: undefined,
      },
    ),
    retryAfter: fc.option(anyHeader, { nil: undefined }),
    error: fc.option(
      anyError.map((code) => ({ code })),
      { nil: undefined },
    ),
  })
  const anySchedule: fc.Arbitrary<RetrySchedule> = fc.record({
    delaysMs: fc.array(fc.integer({ min: 0, max: 30 * 24 * hour }), { maxLength: 20 }),
    jitter: fc.double({ min: 0, max: 1, noNaN: true }),
    retryAfterCapMs: fc.integer({ min: 0, max: 24 * hour }),
  })
  const anyCase = fc.record({
    schedule: anySchedule,
    attempt: fc.integer({ min: 1, max: 25 }),
    outcome: anyOutcome,
    nowMs: fc.integer({ min: 0, max: Date.UTC(2200, 0) }),
    random: fc.oneof(
      fc.constantFrom(0, 1 - Number.EPSILON / 2),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    ),
  })
  type Case = typeof anyCase extends fc.Arbitrary<infer Given> ? Given : never
  /** For every schedule, attempt, answer, clock and chance. */
  const always = (check: (given: Case, next: ReturnType<typeof nextStep>) => void) =>
    fc.assert(
      fc.property(anyCase, (given) => {
        const { schedule, attempt, outcome, nowMs, random } = given
        check(given, nextStep(schedule, attempt, outcome, { nowMs, random: () => random }))
      }),
      { numRuns: 2_000 },
    )
  const isAmong = (status: number | undefined, from: number, to: number) =>
    status !== undefined && status >= from && status < to

  it('never makes an attempt due before the base delay, nor at a fraction of a millisecond', () => {
    always(({ schedule, attempt, nowMs }, next) => {
      if (next.state !== 'due') return
      assert.ok(Number.isSafeInteger(next.dueAtMs))
      assert.ok(next.dueAtMs >= nowMs + (schedule.delaysMs[attempt - 1] ?? Number.NaN))
    })
  })

  it('never makes an attempt due later than its base delay or capped Retry-After, plus jitter', () => {
    always(({ schedule, attempt, outcome, nowMs }, next) => {
      if (next.state !== 'due') return
      const base = schedule.delaysMs[attempt - 1] ?? Number.NaN
      const isAsked = outcome.retryAfter !== undefined && [429, 503].includes(outcome.status ?? 0)
      const longest = Math.max(base, isAsked ? schedule.retryAfterCapMs : 0)
      assert.ok(next.dueAtMs <= nowMs + longest + base * schedule.jitter)
    })
  })

  it('waits for the Retry-After of a 429 and 503, up to the cap', () => {
    always(({ schedule, attempt, nowMs, random }) => {
      const asked = Math.floor(random * 48 * 3_600)
      for (const status of [429, 503]) {
        const outcome = { status, retryAfter: String(asked) }
        const next = nextStep(schedule, attempt, outcome, { nowMs, random: () => random })
        if (next.state === 'due') {
          assert.ok(next.dueAtMs >= nowMs + Math.min(asked * 1_000, schedule.retryAfterCapMs))
        }
      }
    })
  })

  it('counts each 2xx as delivered, and nothing else', () => {
    always(({ outcome }, next) => {
      assert.equal(next.state === 'delivered', isAmong(outcome.status, 200, 300))
    })
  })

  it('never repeats after 3xx and 4xx, except 429', () => {
    always(({ outcome: { status } }, next) => {
      if (!isAmong(status, 300, 500) || status === 429) return
      assert.deepEqual(next, { state: 'failed', reason: isAmong(status, 300, 400) ? 'redirect' : 'rejected' })
    })
  })

  it('repeats as long as delays are left', () => {
    always(({ schedule, attempt, outcome: { status } }, next) => {
      if (status !== undefined && status !== 429 && !isAmong(status, 500, 600)) return
      const isLeft = attempt <= schedule.delaysMs.length
      assert.equal(next.state, isLeft ? 'due' : 'failed')
      if (next.state === 'failed') assert.equal(next.reason, 'exhausted')
    })
  })

  it('ends for every schedule, with one retry for each delay', () => {
    fc.assert(
      fc.property(anySchedule, (schedule) => {
        let attempts = 1
        while (nextStep(schedule, attempts, networkError, lowest).state === 'due') attempts += 1
        assert.equal(attempts, schedule.delaysMs.length + 1)
      }),
    )
  })

  it('fails if the number of the attempt is invalid', () => {
    for (const attempt of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      assert.deepEqual(step(attempt, { status: 500 }), { state: 'failed', reason: 'exhausted' })
    }
  })
})

describe('a Retry-After header', () => {
  const inTwoMinutes = ['120', ' 120 ', 'Thu, 15 Jan 2026 12:02:00 GMT', 'Thursday, 15-Jan-26 12:02:00 GMT']
  for (const header of [...inTwoMinutes, 'Thu Jan 15 12:02:00 2026']) {
    it(`"${header}" is two minutes`, () => assert.equal(parseRetryAfter(header, nowMs), 120_000))
  }
  const nonsense = ['', ' ', '-1', '1.5', '1e3', '0x10', 'tomorrow', '2026-01-15T12:02:00Z', '1, 2', 'NaN']
  for (const header of [...nonsense, 'Thu, 99 Jan 2026 12:02:00 GMT', 'Thu, 15 Jan 2026 12:02:00 PST']) {
    it(`"${header}" is nothing`, () => assert.equal(parseRetryAfter(header, nowMs), undefined))
  }
})
