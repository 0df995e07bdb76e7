import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Attempt, Delivery } from '../../host/cli/api/records.ts'
import { printFeedItem, whenAgain } from '../../host/cli/commands/events/print-feed.ts'
import { createTerminal } from '../../host/cli/terminal/terminal.ts'

const owed: Delivery = {
  id: 'dlv_1',
  state: 'owed',
  event: { id: 'evt_1', type: 'site_view' },
  installation: 'inst_1',
  signedBy: 'site:site_1',
  url: 'https://example.com/hook\x1b[2J',
  attempts: 1,
  createdAt: '2026-01-01T00:00:00.000Z',
}

const attempt = (number: number, status: number, headers: [string, string][] = []): Attempt => ({
  number,
  startedAt: '2026-01-01T00:00:00.000Z',
  durationMs: 12,
  request: { headers: [] },
  response: { status, headers, body: '' },
})

test('the feed says how long the wait for the next attempt is', () => {
  assert.equal(whenAgain(owed, attempt(1, 503)), ', again in 1.0 s')
  assert.equal(whenAgain(owed, attempt(3, 500)), ', again in 4.0 s')
  assert.equal(whenAgain(owed, attempt(1, 429, [['Retry-After', '7']])), ', again in 7.0 s')
  assert.equal(whenAgain(owed, attempt(1, 500, [['Retry-After', '7']])), ', again in 1.0 s')
})

test('the feed promises no attempt that will not be made', () => {
  assert.equal(whenAgain(owed, attempt(1, 400)), '')
  assert.equal(whenAgain(owed, attempt(4, 503)), '')
  assert.equal(whenAgain({ ...owed, state: 'failed' }, attempt(1, 503)), '')
})

test('a line of the feed shows status, address and time, and nothing acts on the terminal', () => {
  let written = ''
  const stream = {
    write(text: string | Uint8Array) {
      written += String(text)
      return true
    },
  }
  const terminal = createTerminal({ stdout: stream, stderr: stream, env: {} })
  printFeedItem(terminal, { kind: 'owed', delivery: owed })
  printFeedItem(terminal, { kind: 'attempt', delivery: owed, attempt: attempt(1, 503) })
  assert.match(written, /--> site_view evt_1 to https:\/\/example\.com\/hook/)
  assert.match(written, /<-- 503 https:\/\/example\.com\/hook\S* 12 ms, again in 1\.0 s\n$/)
  assert.ok(!written.includes('\x1b'))
})
