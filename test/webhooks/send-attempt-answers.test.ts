import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { sendAttempt } from '../../host/webhooks/send-attempt.ts'
import { openEgress, serveRaw } from '../egress/local-server.ts'
import {
  attemptAt,
  deliveryTo,
  flood,
  ok,
  patienceMs,
  say,
  secret,
  timeoutMs,
  trickle,
  whenAsked,
  why,
} from './receivers.ts'

type Oddity = [what: string, onSocket: (socket: Socket) => void, status: number, body: string | RegExp]

const bomb = gzipSync(Buffer.alloc(10_000_000))
const bombHead = `${ok}content-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`

/** Receivers whose answer counts: the status decides. */
const answered: Oddity[] = [
  [
    'resets after the head',
    whenAsked((socket) =>
      socket.write(`${ok}content-length: 9\r\n\r\n`, () =>
        setTimeout(50).then(() => socket.resetAndDestroy()),
      ),
    ),
    200,
    '',
  ],
  [
    'resets in the body',
    whenAsked((socket) =>
      socket.write(`${ok}content-length: 9\r\n\r\nbeg`, () =>
        setTimeout(50).then(() => socket.resetAndDestroy()),
      ),
    ),
    200,
    'beg',
  ],
  ['closes in the body', say(`${ok}content-length: 9\r\n\r\nbeg`), 200, 'beg'],
  ['closes in a chunk', say(`${ok}transfer-encoding: chunked\r\n\r\n9\r\nbeg`), 200, 'beg'],
  ['has a malformed chunk', say(`${ok}transfer-encoding: chunked\r\n\r\n3\r\nbeg\r\nzz\r\n`), 200, 'beg'],
  [
    'gives its body byte by byte',
    (socket) => trickle(socket, `${ok}content-length: 5000\r\n\r\n`, 50),
    200,
    /^a+$/,
  ],
  [
    'gives 503 and its body byte by byte',
    (socket) => trickle(socket, 'HTTP/1.1 503 No\r\ncontent-length: 5000\r\n\r\n', 50),
    503,
    /^a+$/,
  ],
  [
    'promises 2 GB',
    whenAsked((socket) =>
      socket.write(`${ok}content-length: 2147483648\r\n\r\n`, () => flood(socket, 'x'.repeat(65_536))),
    ),
    200,
    'x'.repeat(4_096),
  ],
  [
    'sends endless chunks',
    whenAsked((socket) =>
      socket.write(`${ok}transfer-encoding: chunked\r\n\r\n`, () =>
        flood(socket, `1000\r\n${'x'.repeat(4_096)}\r\n`),
      ),
    ),
    200,
    'x'.repeat(4_096),
  ],
  ['speaks HTTP/1.0', say('HTTP/1.0 200 OK\r\n\r\nold'), 200, 'old'],
  ['ends its body by closing', say(`${ok}\r\nuntil the end`), 200, 'until the end'],
  ['has a body with its 204', say('HTTP/1.1 204 No Content\r\ncontent-length: 4\r\n\r\nbody'), 204, ''],
  ['has a body without a length with its 204', say('HTTP/1.1 204 No Content\r\n\r\nbody'), 204, ''],
  [
    'sends early hints first',
    say(`HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n${ok}content-length: 2\r\n\r\nok`),
    200,
    'ok',
  ],
  [
    'answers before it is asked',
    (socket) => void socket.write(`${ok}content-length: 2\r\n\r\nok`),
    200,
    'ok',
  ],
  [
    'has NUL and invalid UTF-8 in its body',
    say(Buffer.from([...Buffer.from(`${ok}content-length: 4\r\n\r\n`), 0x61, 0x00, 0xff, 0xc3])),
    200,
    'a\uFFFD\uFFFD\uFFFD',
  ],
  ['has an unknown status', say('HTTP/1.1 799 Hm\r\ncontent-length: 0\r\n\r\n'), 799, ''],
  ['has an empty header', say(`${ok}x:\r\ny: \r\ncontent-length: 0\r\n\r\n`), 200, ''],
  ['sends a gzip bomb', say(Buffer.concat([Buffer.from(bombHead), bomb])), 200, /^.\uFFFD/],
]

describe('a receiver that answers and', () => {
  for (const [what, onSocket, status, body] of answered) {
    it(what, async (t) => {
      const attempt = await attemptAt(t, onSocket)
      const outcome = status < 300 ? 'delivered' : 'rejected'
      assert.deepEqual([attempt.status, attempt.outcome], [status, outcome], why(attempt))
      if (typeof body === 'string') assert.equal(attempt.responseBody, body)
      else assert.match(String(attempt.responseBody), body)
      assert.ok(String(attempt.responseBody).length <= 4_096)
      assert.equal(typeof attempt.timing.firstByteMs, 'number')
    })
  }

  it('sends 10,000 header lines: 4 KiB are kept, and its Retry-After counts', async (t) => {
    const lines = 'a:b\r\n'.repeat(10_000)
    const attempt = await attemptAt(
      t,
      say(`HTTP/1.1 503 No\r\n${lines}retry-after: 7\r\ncontent-length: 0\r\n\r\n`),
    )
    assert.deepEqual([attempt.status, attempt.retryAfter], [503, '7'], why(attempt))
    assert.equal(attempt.responseHeaders?.length, 2_048)
  })

  it('sends a head above the limit: only the status is kept', async (t) => {
    for (const status of [200, 503]) {
      const long = `x: ${'y'.repeat(100_000)}\r\nretry-after: 7\r\ncontent-length: 2\r\n\r\nok`
      const attempt = await attemptAt(t, say(`HTTP/1.1 ${status} Long\r\n${long}`), patienceMs)
      const { outcome, responseHeaders, responseBody, retryAfter } = attempt
      assert.deepEqual([attempt.status, outcome], [status, status === 200 ? 'delivered' : 'rejected'])
      assert.deepEqual([responseHeaders, responseBody, retryAfter], [[], '', undefined])
    }
  })

  it('never ends its body: the body is cut one second after the head', async (t) => {
    for (const status of [200, 503]) {
      const head = `HTTP/1.1 ${status} Slow\r\ncontent-length: 5000\r\n\r\n`
      const attempt = await attemptAt(t, (socket) => trickle(socket, head, 50), 60_000)
      assert.deepEqual([attempt.status, attempt.error], [status, undefined])
      assert.match(String(attempt.responseBody), /^a+$/)
    }
  })

  it('has not read the request: its connection is closed, and the next attempt has a new one', async (t) => {
    let connections = 0
    const { urlOrigin } = await serveRaw(t, (socket) => {
      connections += 1
      socket.once('data', () => {
        socket.pause()
        socket.write('HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n')
      })
    })
    const egress = openEgress(t, { connectionsPerUrlOrigin: 1 })
    const large = deliveryTo(urlOrigin, 'x'.repeat(20_000_000))
    for (const round of [1, 2, 3]) {
      const attempt = await sendAttempt(egress, large, { current: secret }, { nowMs: 0, timeoutMs: 5_000 })
      assert.deepEqual([attempt.status, connections], [413, round], why(attempt))
    }
  })

  it('sends a second answer: the next delivery ignores it', async (t) => {
    const { urlOrigin } = await serveRaw(t, (socket) => {
      socket.on('data', () => {
        socket.write(`${ok}content-length: 5\r\n\r\nfirst`)
        socket.write(`HTTP/1.1 410 Gone\r\ncontent-length: 6\r\n\r\nforged`)
      })
    })
    const egress = openEgress(t, { connectionsPerUrlOrigin: 1 })
    for (let round = 0; round < 5; round += 1) {
      const attempt = await sendAttempt(
        egress,
        deliveryTo(urlOrigin),
        { current: secret },
        { nowMs: 0, timeoutMs },
      )
      assert.deepEqual([attempt.status, attempt.responseBody], [200, 'first'], why(attempt))
      await setTimeout(20)
    }
  })
})
