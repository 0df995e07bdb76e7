import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nextAttemptIn, printFeedItem } from '../../host/cli/delivery-feed.ts'
import { createTerminal } from '../../host/cli/terminal.ts'
import type { Attempt, Delivery } from '../../schemas/generated/api/deliveries.ts'

const owed: Delivery = {
  object: 'delivery',
  id: 'dlv_1',
  state: 'pending',
  event: { id: 'evt_1', type: 'site_view' },
  installation: 'inst_1',
  receiver: 'rcv_1',
  signedBy: 'site:site_1',
  url: 'https://example.com/hook\x1b[2J',
  attempts: 1,
  createdAt: '2026-01-01T00:00:00.000Z',
  nextAttemptAt: '2026-01-01T00:00:01.012Z',
}

const attempt = (number: number, status: number): Attempt => ({
  object: 'attempt',
  id: `att_${number}`,
  number,
  outcome: 'rejected',
  startedAt: '2026-01-01T00:00:00.000Z',
  durationMs: 12,
  request: { headers: [] },
  response: { status, headers: [], body: '' },
})

test('a feed line shows the wait before the next attempt, as the server scheduled it', () => {
  assert.equal(nextAttemptIn(owed, attempt(1, 503)), ', again in 1.0 s')
  const later = { ...owed, attempts: 7, nextAttemptAt: '2026-01-01T01:00:00.012Z' }
  assert.equal(nextAttemptIn(later, attempt(7, 503)), ', again in 3600.0 s')
})

test('a feed line of a failed delivery or an earlier attempt shows no wait', () => {
  const { nextAttemptAt: _, ...settled } = owed
  assert.equal(nextAttemptIn({ ...settled, state: 'failed' }, attempt(1, 400)), '')
  assert.equal(nextAttemptIn({ ...owed, attempts: 2 }, attempt(1, 503)), '')
})

test('a feed line shows status, URL and duration, with escape sequences escaped', () => {
  let written = ''
  const stream = {
    write(text: string | Uint8Array) {
      written += String(text)
      return true
    },
  }
  const terminal = createTerminal({ stdout: stream, stderr: stream, env: {} })
  printFeedItem(terminal, { kind: 'pending', delivery: owed })
  printFeedItem(terminal, { kind: 'attempt', delivery: owed, attempt: attempt(1, 503) })
  assert.match(written, /--> site_view evt_1 to https:\/\/example\.com\/hook/)
  assert.match(written, /<-- 503 https:\/\/example\.com\/hook\S* 12 ms, again in 1\.0 s\n$/)
  const failed = { ...owed, state: 'failed', reason: 'receiver_disabled: It answered 410 Gone.' } as const
  printFeedItem(terminal, { kind: 'settled', delivery: failed })
  assert.match(written, / x site_view evt_1 receiver_disabled: It answered 410 Gone\.\n$/)
  assert.ok(!written.includes('\x1b'))
})
