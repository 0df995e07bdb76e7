import assert from 'node:assert/strict'
import { it } from 'node:test'
import { reasonToDisable } from '../../host/webhooks/receiver-health.ts'

const dayMs = 86_400_000
const nowMs = 10 * dayMs

const reason = (
  status: number | undefined,
  state: 'due' | 'failed' | 'delivered',
  failingSince: number | null,
  createdAt = nowMs,
) => reasonToDisable({ failingSince }, { status }, { state, createdAt }, nowMs, 5 * dayMs)

it('a receiver is disabled after days of failures and a delivery that used all its retries', () => {
  assert.match(reason(503, 'failed', nowMs - 5 * dayMs) ?? '', /since 1970-01-06T00:00:00.000Z/)
  assert.match(reason(undefined, 'failed', nowMs - 5 * dayMs) ?? '', /No attempt/)
  assert.equal(reason(503, 'failed', nowMs - 5 * dayMs + 1), undefined)
  assert.equal(reason(503, 'failed', null), undefined)
  // While the circuit is open, no delivery may use up its retries: its age counts then.
  assert.match(reason(503, 'due', 0, nowMs - 5 * dayMs) ?? '', /No attempt/)
  assert.equal(reason(200, 'delivered', 0), undefined)
})

it('a receiver with an old failure and no attempt since then stays enabled after one more', () => {
  assert.equal(reason(503, 'due', 0), undefined)
  assert.equal(reason(undefined, 'due', 0, nowMs - dayMs), undefined)
})

it('a receiver that answers 410 is disabled at once', () => {
  assert.equal(reason(410, 'failed', null), 'It answered 410 Gone.')
})
