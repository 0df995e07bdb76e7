import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { sendAttempt } from '../../host/webhooks/send-attempt.ts'
import { openEgress, serveRaw } from '../egress/local-server.ts'
import {
  attemptAt,
  deliveryTo,
  flood,
  ok,
  patienceMs,
  secret,
  timeoutMs,
  trickle,
  whenAsked,
} from './receivers.ts'

const late = `POST ORIGIN was not complete after ${timeoutMs} ms (waiting for the answer).`
const cutOff = 'POST ORIGIN failed: the connection was closed before the answer was complete'
const noHttp = 'POST ORIGIN failed: the answer is not HTTP (HPE_INVALID).'

type Fault = [what: string, onSocket: (socket: Socket) => void, code: string, message: string]

/** Receivers that give no answer. */
const unanswered: Fault[] = [
  ['accepts and never answers', () => {}, 'egress_timeout', late],
  ['gives a head byte by byte', (socket) => trickle(socket, `${ok}x: `, 50), 'egress_timeout', late],
  [
    'gives a status line byte by byte',
    (socket) => trickle(socket, 'HTTP/1.1 200 O', 50),
    'egress_timeout',
    late,
  ],
  ['closes at once', (socket) => socket.end(), 'egress_failed', cutOff],
  ['closes when it is asked', whenAsked((socket) => socket.end()), 'egress_failed', cutOff],
  ['resets when it is asked', whenAsked((socket) => socket.resetAndDestroy()), 'egress_failed', cutOff],
  ['closes in the head', whenAsked((socket) => socket.end(`${ok}x: `)), 'egress_failed', cutOff],
  [
    'answers garbage',
    whenAsked((socket) => socket.end('220 mail.example ESMTP\r\n')),
    'egress_failed',
    noHttp,
  ],
  ['answers NUL bytes', whenAsked((socket) => socket.end('\0'.repeat(64))), 'egress_failed', noHttp],
  [
    'has a NUL in its head',
    whenAsked((socket) => socket.end(`${ok}x: a\0b\r\n\r\n`)),
    'egress_failed',
    noHttp,
  ],
  [
    'sends endless bytes other than HTTP',
    (socket) => flood(socket, 'x'.repeat(65_536)),
    'egress_failed',
    noHttp,
  ],
  [
    'has two lengths',
    whenAsked((socket) => socket.end(`${ok}content-length: 1\r\ncontent-length: 2\r\n\r\nab`)),
    'egress_failed',
    'POST ORIGIN failed: the length that the answer gives is not that of its body (UND_ERR_RES_CONTENT_LENGTH_MISMATCH).',
  ],
  [
    'sends endless early hints',
    (socket) => flood(socket, 'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n'.repeat(8)),
    'egress_too_large',
    'POST ORIGIN: it sent more than 69632 bytes without an answer',
  ],
  [
    'sends an early hint and then nothing',
    whenAsked((socket) => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n')),
    'egress_timeout',
    late,
  ],
  [
    'sends an early hint and closes',
    whenAsked((socket) => socket.end('HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1')),
    'egress_failed',
    cutOff,
  ],
  [
    'switches to another protocol',
    whenAsked((socket) =>
      socket.end('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
    ),
    'egress_failed',
    'POST ORIGIN failed: the answer switches to another protocol, for which nothing asked (HTTP_101).',
  ],
]

describe('a receiver that gives no answer', () => {
  for (const [what, onSocket, code, message] of unanswered) {
    it(`because it ${what}`, async (t) => {
      const attempt = await attemptAt(t, onSocket, code === 'egress_timeout' ? timeoutMs : patienceMs)
      assert.equal(attempt.outcome, 'error')
      assert.equal(attempt.error?.code, code)
      assert.equal(attempt.error.message.slice(0, message.length), message)
      for (const part of ['status', 'responseHeaders', 'responseBody']) assert.ok(!(part in attempt), part)
    })
  }
})

describe('a name', () => {
  const send = (t: TestContext, resolve: () => Promise<never[]>, url = 'http://receiver.test/') =>
    sendAttempt(openEgress(t, { resolve }), deliveryTo(url), { current: secret }, { nowMs: 0, timeoutMs })

  for (const [code, reason] of [
    ['ENOTFOUND', 'the name does not resolve'],
    ['EAI_AGAIN', 'the name could not be resolved for now'],
  ] as const) {
    it(`that fails with ${code} is an error with the reason`, async (t) => {
      const attempt = await send(t, async () => {
        throw Object.assign(new Error('getaddrinfo ns1.inner.example'), { code })
      })
      const message = `POST http://receiver.test failed: ${reason} (${code}).`
      assert.deepEqual([attempt.outcome, attempt.error], ['error', { code: 'egress_failed', message }])
      assert.deepEqual(Object.keys(attempt.timing), ['dnsMs'])
    })
  }

  it('that takes too long to resolve is a timeout', async (t) => {
    const attempt = await send(t, () => new Promise(() => {}))
    const message = `POST http://receiver.test was not complete after ${timeoutMs} ms (resolving the name).`
    assert.deepEqual(attempt.error, { code: 'egress_timeout', message })
    assert.deepEqual(attempt.timing, {})
    assert.ok(attempt.durationMs < 5_000, `${attempt.durationMs} ms`)
  })

  it('that does not exist is an error', async (t) => {
    const attempt = await sendAttempt(
      openEgress(t),
      deliveryTo('http://no-such-name.invalid/'),
      { current: secret },
      {
        nowMs: 0,
        timeoutMs: 20_000,
      },
    )
    assert.equal(attempt.error?.code, 'egress_failed')
    assert.match(attempt.error?.message ?? '', /the name (does not resolve|could not be resolved for now)/)
  })

  it('with a private address is refused, and the address is not shown', async (t) => {
    const egress = openEgress(t, { allow: [], resolve: async () => [{ address: '10.11.12.13', family: 4 }] })
    const attempt = await sendAttempt(
      egress,
      deliveryTo('http://db.example/'),
      { current: secret },
      { nowMs: 0 },
    )
    assert.equal(attempt.error?.code, 'egress_refused')
    assert.doesNotMatch(JSON.stringify(attempt), /10\.11\.12\.13|do_not_show/)
    assert.ok(!('status' in attempt || 'responseHeaders' in attempt || 'responseBody' in attempt))
  })
})

it('an unanswered TLS handshake is a timeout that names TLS', async (t) => {
  const { port } = await serveRaw(t, () => {})
  const url = `https://127.0.0.1:${port}`
  const attempt = await sendAttempt(
    openEgress(t),
    deliveryTo(url),
    { current: secret },
    { nowMs: 0, timeoutMs },
  )
  const message = `POST ${url} was not complete after ${timeoutMs} ms (the TLS handshake).`
  assert.deepEqual(attempt.error, { code: 'egress_timeout', message })
  assert.deepEqual(Object.keys(attempt.timing), ['connectMs'])
})

it('a receiver that reads nothing of a large delivery is a timeout, and its connection is closed', async (t) => {
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const { urlOrigin } = await serveRaw(t, (socket) => {
    socket.pause()
    // Unread bytes hide the end of the connection from the receiver.
    setTimeout(() => socket.resume(), 2 * timeoutMs)
    socket.on('close', resolve)
  })
  const large = deliveryTo(urlOrigin, 'x'.repeat(20_000_000))
  const attempt = await sendAttempt(openEgress(t), large, { current: secret }, { nowMs: 0, timeoutMs })
  assert.equal(attempt.error?.message, late.replace('ORIGIN', urlOrigin))
  assert.ok(attempt.durationMs < 5_000, `${attempt.durationMs} ms`)
  await closed
})
