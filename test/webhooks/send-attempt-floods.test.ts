import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { after, describe, it, type TestContext } from 'node:test'
import { createServer, getCACertificates, setDefaultCACertificates } from 'node:tls'
import { type Attempt, sendAttempt } from '../../host/webhooks/send-attempt.ts'
import { openAuthority } from '../egress/certificates.ts'
import { openEgress, serve, serveRaw } from '../egress/local-server.ts'
import { deliveryTo, flood, ok, patienceMs, secret, whenAsked, why } from './receivers.ts'

const { authority, sign } = openAuthority(after)
setDefaultCACertificates([...getCACertificates('default'), authority])

const piece = 'y'.repeat(16_384)
const chunked = `${ok}transfer-encoding: chunked\r\n\r\n`

/** Writes the first text once, and the second for as long as the other side reads. */
const goOn = (first: string, rest: string) =>
  whenAsked((socket) => socket.write(first, () => flood(socket, rest)))

/** Endless answers, and the status when one has come. */
const floods: [what: string, onSocket: (socket: Socket) => void, status?: number][] = [
  ['a reason phrase', goOn('HTTP/1.1 200 ', piece), 200],
  ['headers', goOn(ok, 'x: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n'.repeat(500)), 200],
  ['one header', goOn(`${ok}x: `, piece), 200],
  ['the spaces before a header’s value', goOn('HTTP/1.1 503 No\r\nx:', ' '.repeat(16_384)), 503],
  ['interim answers', goOn('HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 103 Hints\r\n\r\n'.repeat(500))],
  ['a reason phrase of an interim answer', goOn('HTTP/1.1 103 ', piece)],
  ['the extension of a chunk', goOn(`${chunked}5;x=`, piece), 200],
  [
    'the extensions of chunks of a byte',
    goOn('HTTP/1.1 503 No\r\ntransfer-encoding: chunked\r\n\r\n', `1;x=${piece.slice(1_000)}\r\ny\r\n`),
    503,
  ],
  ['leading zeros of a chunk’s length', goOn(chunked, '0'.repeat(16_384)), 200],
  ['trailers', goOn(`${chunked}0\r\n`, 'x: yyyyyyyy\r\n'.repeat(1_000)), 200],
]

/** More than the kernel buffers for a connection, and far less than a flood sends before the deadline. */
const bound = 24_000_000

async function attemptAt(t: TestContext, urlOrigin: string): Promise<Attempt> {
  const egress = openEgress(t, { resolve: async () => [{ address: '127.0.0.1', family: 4 }] })
  const options = { nowMs: 0, timeoutMs: patienceMs }
  return await sendAttempt(egress, deliveryTo(urlOrigin), { current: secret }, options)
}

function assertBounded(attempt: Attempt, socket: Socket | undefined, status?: number): void {
  assert.equal(attempt.status, status, why(attempt))
  if (status === undefined) {
    assert.equal(attempt.error?.code, 'egress_too_large', why(attempt))
    assert.match(attempt.error.message, /^POST \S+: it sent more than 69632 bytes without an answer/)
  }
  const sent = (socket?.bytesWritten ?? Infinity) - (socket?.writableLength ?? 0)
  assert.ok(sent < bound, `${sent} bytes`)
  assert.ok(attempt.durationMs < patienceMs / 2, `${attempt.durationMs} ms`)
}

describe('an endless answer is cut at the limit', () => {
  for (const [what, onSocket, status] of floods) {
    it(`when it sends ${what}`, async (t) => {
      let socket: Socket | undefined
      const { urlOrigin } = await serveRaw(t, (opened) => {
        socket = opened
        onSocket(opened)
      })
      assertBounded(await attemptAt(t, urlOrigin), socket, status)
    })
  }

  it('when it sends a reason phrase over TLS', async (t) => {
    let socket: Socket | undefined
    const server = createServer(sign('receiver.test'), (opened) => {
      socket = opened
      opened.on('error', () => {})
      goOn('HTTP/1.1 200 ', piece)(opened)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.after(() => {
      socket?.destroy()
      server.close()
    })
    const address = server.address()
    assert.ok(typeof address === 'object' && address !== null)
    assertBounded(await attemptAt(t, `https://receiver.test:${address.port}`), socket, 200)
  })
})

it('floods of all kinds at once do not stop attempts at another receiver', async (t) => {
  const egress = openEgress(t)
  const attempt = (urlOrigin: string) =>
    sendAttempt(egress, deliveryTo(urlOrigin), { current: secret }, { nowMs: 0, timeoutMs: 30_000 })
  const { urlOrigin: good } = await serve(t, (_, response) => response.end())
  const servers = await Promise.all([...floods, ...floods].map(([, onSocket]) => serveRaw(t, onSocket)))
  const flooded = Promise.all(servers.map(({ urlOrigin }) => attempt(urlOrigin)))
  const delivered = await Promise.all(Array.from({ length: 50 }, () => attempt(good)))
  assert.deepEqual(new Set(delivered.map(({ outcome }) => outcome)), new Set(['delivered']))
  await flooded
})

it('each answer over a kept connection has the whole limit', async (t) => {
  let connections = 0
  const head = `${ok}${`x: ${'y'.repeat(1_000)}\r\n`.repeat(14)}content-length: 2000\r\n\r\n`
  const { urlOrigin } = await serveRaw(t, (socket) => {
    connections += 1
    socket.on('data', () => socket.write(head + 'z'.repeat(2_000)))
  })
  const egress = openEgress(t, { connectionsPerUrlOrigin: 1 })
  for (let round = 0; round < 12; round += 1) {
    const options = { nowMs: 0, timeoutMs: patienceMs }
    const attempt = await sendAttempt(egress, deliveryTo(urlOrigin), { current: secret }, options)
    assert.equal(attempt.status, 200, why(attempt))
    assert.equal(attempt.responseBody?.length, 2_000)
  }
  assert.equal(connections, 1)
})
