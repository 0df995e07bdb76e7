import assert from 'node:assert/strict'
import { it } from 'node:test'
import { reasonToGiveUp } from '../../host/webhooks/give-up-endpoint.ts'

const dayMs = 86_400_000
const nowMs = 10 * dayMs

const reason = (
  status: number | undefined,
  state: 'due' | 'failed' | 'delivered',
  failingSince: number | null,
  createdAt = nowMs,
) => reasonToGiveUp({ failingSince }, { status }, { state, createdAt }, nowMs, 5 * dayMs)

it('an endpoint is given up when it has failed for days, and what is owed to it has used up its retries', () => {
  assert.match(reason(503, 'failed', nowMs - 5 * dayMs) ?? '', /since 1970-01-06T00:00:00.000Z/)
  assert.match(reason(undefined, 'failed', nowMs - 5 * dayMs) ?? '', /No attempt/)
  assert.equal(reason(503, 'failed', nowMs - 5 * dayMs + 1), undefined)
  assert.equal(reason(503, 'failed', null), undefined)
  // Of many that are owed none has, while it is probed every few minutes.
  assert.match(reason(503, 'due', 0, nowMs - 5 * dayMs) ?? '', /No attempt/)
  assert.equal(reason(200, 'delivered', 0), undefined)
})

it('one that has refused something days ago, and been asked for nothing since, is not given up by the first failure', () => {
  assert.equal(reason(503, 'due', 0), undefined)
  assert.equal(reason(undefined, 'due', 0, nowMs - dayMs), undefined)
})

it('and one that says that it is gone is given up at once', () => {
  assert.equal(reason(410, 'failed', null), 'It answered 410 Gone.')
})
