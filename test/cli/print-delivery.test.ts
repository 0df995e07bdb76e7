import assert from 'node:assert/strict'
import { test } from 'node:test'
import { printDelivery } from '../../host/cli/deliveries.ts'
import { createTerminal } from '../../host/cli/terminal.ts'
import type { Attempt, DeliveryWithAttempts } from '../../schemas/generated/api/deliveries.ts'

const attempt: Attempt = {
  object: 'attempt',
  id: 'att_1',
  number: 1,
  outcome: 'delivered',
  startedAt: '2026-01-01T00:00:00.000Z',
  durationMs: 12,
  request: { headers: [] },
}

function print(more: Partial<DeliveryWithAttempts>): string {
  let written = ''
  const stream = {
    write(text: string | Uint8Array) {
      written += String(text)
      return true
    },
  }
  printDelivery(createTerminal({ stdout: stream, stderr: stream, env: {} }), {
    object: 'delivery',
    id: 'dlv_1',
    state: 'pending',
    event: { id: 'evt_1', type: 'site_view' },
    installation: 'inst_1',
    receiver: 'rcv_1',
    signedBy: 'installation',
    url: 'https://example.com/hook',
    attempts: 1,
    createdAt: '2026-01-01T00:00:00.000Z',
    body: '{}',
    attemptList: [],
    ...more,
  })
  return written
}

test('an attempt shows the duration of each finished phase', () => {
  const response = { status: 200, headers: [], body: '' }
  const timing = { dnsMs: 2.04, connectMs: 1, firstByteMs: 9 }
  assert.match(
    print({ attemptList: [{ ...attempt, response, timing }] }),
    /12 ms, status 200\n {2}DNS 2 ms, connect 1 ms, first byte 9 ms\n/,
  )
})

test('an interrupted attempt is shown as interrupted', () => {
  const error = { code: 'interrupted', message: 'The host ended before this attempt did.' }
  const text = print({ attemptList: [{ ...attempt, outcome: 'interrupted', error }] })
  assert.match(text, /12 ms, interrupted: The host ended before this attempt did\.\n$/)
})

test('a pending delivery shows its next attempt and its receiver', () => {
  const text = print({ nextAttemptAt: '2026-01-01T00:00:01.000Z' })
  assert.match(text, /^receiver {5}rcv_1$/m)
  assert.match(text, /^next attempt 2026-01-01T00:00:01\.000Z$/m)
})
