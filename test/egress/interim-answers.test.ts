import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { egressFetch } from '../../host/egress/fetch.ts'
import { sendAttempt } from '../../host/webhooks/send-attempt.ts'
import { deliveryTo, patienceMs, secret, why } from '../webhooks/receivers.ts'
import { openEgress, serveRaw, textOf } from './local-server.ts'

const limits = { timeoutMs: patienceMs, maxBytes: 1_000, hops: 0 }
const post = (url: string) => ({
  ...{ method: 'POST', url, headers: [], redirect: 'follow' as const },
  body: Buffer.from('{}'),
})
const proceed = 'HTTP/1.1 100 Continue\r\n\r\n'
const hints = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nlink: </b>\r\n\r\n'
const last = 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\ntaken'

/** Answers each request with the pieces, one after the other. */
const inPieces = (pieces: readonly string[]) => (socket: Socket) =>
  socket.setNoDelay().on('data', async () => {
    for (const piece of pieces) {
      socket.write(piece)
      await setTimeout(1)
    }
  })

const cases: [what: string, pieces: readonly string[]][] = [
  ['100 Continue in one piece with the answer', [proceed + last]],
  ['100 Continue, and then the answer', [proceed, last]],
  ['single bytes', [...(proceed + last)]],
  ['100 Continue without a reason, of HTTP/1.0', [`HTTP/1.0 100\r\n\r\n${last}`]],
  [
    'several of several kinds',
    [proceed + hints, 'HTTP/1.1 102 Processing\r\n\r\nHTT', `P/1.1 199 X\r\n\r\n${last}`],
  ],
  ['two thousand', [proceed.repeat(2_000), last]],
  [
    'early hints that are split at their end',
    [hints.slice(0, -3), hints.slice(-3, -1), hints.slice(-1) + last],
  ],
  ['no interim answer', [last]],
]

describe('interim answers', () => {
  for (const [what, pieces] of cases) {
    it(`are skipped: ${what}`, async (t) => {
      const server = await serveRaw(t, inPieces(pieces))
      const egress = openEgress(t, { connectionsPerUrlOrigin: 1 })
      for (let round = 0; round < 3; round += 1) {
        const options = { nowMs: 0, timeoutMs: patienceMs }
        const attempt = await sendAttempt(egress, deliveryTo(server.urlOrigin), { current: secret }, options)
        assert.deepEqual([attempt.status, attempt.responseBody], [200, 'taken'], why(attempt))
        assert.deepEqual(attempt.responseHeaders, [['content-length', '5']])
        const answer = await egressFetch(egress, post(server.urlOrigin), limits)
        assert.deepEqual([answer.status, await textOf(answer)], [200, 'taken'])
      }
      assert.equal(server.connections(), 1)
    })
  }

  it('close the connection between two requests', async (t) => {
    const server = await serveRaw(t, (socket) => {
      socket.on('data', () => socket.write(last + proceed))
    })
    const egress = openEgress(t, { connectionsPerUrlOrigin: 1 })
    for (let round = 1; round <= 3; round += 1) {
      const answer = await egressFetch(egress, post(server.urlOrigin), limits)
      assert.deepEqual([await textOf(answer), server.connections()], ['taken', round])
      while (server.open() > 0) await setTimeout(5)
    }
  })
})
