import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readFilter, toQuery, writeFilter } from '../../host/console/app/deliveries/filter.ts'
import { endOf, toHistory, toReason } from '../../host/console/app/deliveries/history.ts'
import { toPhases } from '../../host/console/app/deliveries/phases.ts'
import type { Attempt } from '../../schemas/generated/api/deliveries.ts'

const startMs = Date.parse('2026-01-01T00:00:00.000Z')
function attempt(
  number: number,
  given: Partial<Attempt> & { status?: number; headers?: string[][] } = {},
): Attempt {
  const { status, headers = [], ...more } = given
  return {
    object: 'attempt',
    id: `att_${number}`,
    number,
    outcome: status !== undefined && status < 300 ? 'delivered' : 'rejected',
    startedAt: new Date(startMs + number * 10_000).toISOString(),
    durationMs: 100,
    request: { headers: [] },
    ...(status !== undefined && { response: { status, headers, body: '' } }),
    ...more,
  }
}

describe('the history of a delivery', () => {
  const meaning = (given: Parameters<typeof attempt>[1]) => toHistory([attempt(1, given)]).first[0]?.meaning

  it('has the meaning of each outcome, as docs/retries.md says', () => {
    const meanings = { 200: 'delivered', 204: 'delivered', 301: 'redirect', 399: 'redirect', 400: 'final' }
    const more = {
      404: 'final',
      410: 'gone',
      429: 'retry',
      500: 'retry',
      503: 'retry',
      599: 'retry',
      600: 'final',
    }
    for (const [status, expected] of Object.entries({ ...meanings, ...more }))
      assert.equal(meaning({ status: Number(status) }), expected, status)
    assert.equal(meaning({ outcome: 'error' }), 'retry')
    assert.equal(meaning({ outcome: 'interrupted' }), 'repeat')
  })

  it('has the wait between attempts, from the end of one to the start of the next', () => {
    const { first } = toHistory([attempt(1), attempt(2), attempt(3)])
    assert.deepEqual(
      first.map(({ waitMs }) => waitMs),
      [9_900, 9_900, undefined],
    )
    const overlapping = toHistory([attempt(1, { durationMs: 60_000 }), attempt(2)])
    assert.equal(overlapping.first[0]?.waitMs, 0, 'a clock that was set back')
  })

  it('has what the receiver asked to wait for', () => {
    assert.equal(
      toHistory([attempt(1, { status: 503, headers: [['Retry-After', '7']] })]).first[0]?.retryAfter,
      '7',
    )
  })

  it('hides attempts between the first and the newest six, but never a single one', () => {
    for (const count of [0, 1, 4, 8]) {
      const { first, hidden, last } = toHistory(Array.from({ length: count }, (_, at) => attempt(at + 1)))
      assert.deepEqual([first.length, hidden.length, last.length], [count, 0, 0])
    }
    const { first, hidden, last } = toHistory(Array.from({ length: 9 }, (_, at) => attempt(at + 1)))
    const numbers = [first, hidden, last].map((steps) => steps.map((step) => step.attempt.number))
    assert.deepEqual(numbers, [[1], [2, 3], [4, 5, 6, 7, 8, 9]])
  })

  it('ends as the delivery stands', () => {
    const nextAttemptAt = new Date(startMs).toISOString()
    assert.equal(endOf({ state: 'delivered', attempts: 1 }, startMs), 'delivered')
    assert.equal(endOf({ state: 'failed', attempts: 0 }, startMs), 'failed')
    assert.equal(endOf({ state: 'pending', attempts: 1, nextAttemptAt }, startMs - 1), 'waiting')
    assert.equal(endOf({ state: 'pending', attempts: 1, nextAttemptAt }, startMs), 'due')
    assert.equal(endOf({ state: 'pending', attempts: 0, nextAttemptAt }, startMs - 1), 'due')
    assert.equal(endOf({ state: 'pending', attempts: 1 }, startMs), 'sending')
  })

  it('splits a reason into its code and its text', () => {
    assert.deepEqual(toReason('exhausted: answered 503'), { code: 'exhausted', said: 'answered 503' })
    assert.deepEqual(toReason('exhausted: answered 503', attempt(1)), { code: 'exhausted', said: '' })
    const refused = attempt(1, { outcome: 'error', error: { code: 'egress_refused', message: 'No.' } })
    assert.deepEqual(toReason('refused: No.', refused), { code: 'refused', said: '' })
    assert.deepEqual(toReason('receiver_disabled: Gone.', refused).said, 'Gone.')
    assert.deepEqual(toReason('receiver_disabled: '), { code: 'receiver_disabled', said: '' })
    assert.deepEqual(toReason('Something: else'), { code: '', said: 'Something: else' })
  })
})

describe('the phases of an attempt', () => {
  const of = (durationMs: number, timing?: Attempt['timing'], longest = durationMs) =>
    toPhases({ durationMs, ...(timing && { timing }) }, longest).map(({ name, ms, at, width }) => [
      name,
      ...[ms, at, width].map((value) => Math.round(value * 1_000) / 1_000),
    ])

  it('follow each other and fill the time of the attempt', () => {
    assert.deepEqual(of(100, { dnsMs: 10, connectMs: 20, tlsMs: 30, firstByteMs: 30 }), [
      ['dns', 10, 0, 0.1],
      ['connect', 20, 0.1, 0.2],
      ['tls', 30, 0.3, 0.3],
      ['answer', 30, 0.6, 0.3],
      ['rest', 10, 0.9, 0.1],
    ])
  })

  it('leave out what was not reached, as over a connection that was open', () => {
    assert.deepEqual(of(50, { reused: true, firstByteMs: 49.6 }), [['answer', 49.6, 0, 0.992]])
    assert.deepEqual(of(10_000, undefined), [['rest', 10_000, 0, 1]])
    assert.deepEqual(of(0, {}), [])
  })

  it('have the scale of the longest attempt, and never leave it', () => {
    assert.deepEqual(of(50, undefined, 200), [['rest', 50, 0, 0.25]])
    assert.deepEqual(of(1, { dnsMs: 0.8, firstByteMs: 0.7 }), [
      ['dns', 0.8, 0, 0.533],
      ['answer', 0.7, 0.533, 0.467],
    ])
  })
})

describe('the filter of the list in its address', () => {
  it('is read and written as it was', () => {
    const query = { state: 'failed', type: 'a&b', installation: 'inst_1', receiver: 'rcv_1', period: 'day' }
    const text = writeFilter(readFilter(query))
    assert.deepEqual(Object.fromEntries(new URLSearchParams(text)), query)
    assert.equal(writeFilter(readFilter({})), '')
    assert.equal(writeFilter(readFilter({}), 'abc'), '?page=abc')
  })

  it('leaves out what it does not understand', () => {
    const query = {
      state: 'lost',
      period: 'toString',
      after: 'yesterday',
      before: '7x',
      other: '1',
      type: '  ',
    }
    assert.equal(writeFilter(readFilter(query)), '')
  })

  it('becomes the query of the API', () => {
    const ofAddress = (query: Record<string, string>) => toQuery(readFilter(query), startMs)
    assert.deepEqual(ofAddress({}), {})
    assert.deepEqual(ofAddress({ state: 'pending', type: 'site_view', period: 'hour' }), {
      ...{ state: 'pending', eventType: 'site_view', after: '2025-12-31T23:00:00.000Z' },
    })
    assert.deepEqual(ofAddress({ after: '2026-01-01T00:00:00Z', before: '2026-01-02T00:00:00Z' }), {
      ...{ after: '2026-01-01T00:00:00.000Z', before: '2026-01-02T00:00:00.000Z' },
    })
    assert.deepEqual(ofAddress({ period: 'hour', before: '2026-01-02' }), {
      after: '2025-12-31T23:00:00.000Z',
    })
  })
})
