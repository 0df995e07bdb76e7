import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createHttp2, createSecureServer } from 'node:http2'
import type { AddressInfo, Server, Socket } from 'node:net'
import { after, describe, it, type TestContext } from 'node:test'
import { createServer as createTls, getCACertificates, setDefaultCACertificates } from 'node:tls'
import { egressFetch } from '../../host/egress/fetch.ts'
import { sendAttempt } from '../../host/webhooks/send-attempt.ts'
import { openAuthority } from './certificates.ts'
import { openEgress, serveRaw, textOf } from './local-server.ts'

const { authority, sign } = openAuthority(after)
setDefaultCACertificates([...getCACertificates('default'), authority])

type Told = { delivery: unknown; fetch: unknown }

/** What an attempt and a script's fetch say of a server. */
async function ask(t: TestContext, url: string, times = 1): Promise<Told[]> {
  const egress = openEgress(t, { resolve: async () => [{ address: '127.0.0.1', family: 4 }] })
  const told: Told[] = []
  const { origin: urlOrigin } = new URL(url)
  const strip = (message: string) => message.replace(/^\w+ /, '').replace(urlOrigin, 'ORIGIN')
  for (let time = 0; time < times; time++) {
    const delivery = { id: 'dlv_1', eventId: 'evt_1', url, body: '{}' }
    const options = { nowMs: 0, timeoutMs: 5_000 }
    const attempt = await sendAttempt(egress, delivery, { current: 'whsec_test' }, options)
    const request = { method: 'GET', url, headers: [], redirect: 'manual' as const }
    const fetched = await egressFetch(egress, request, { timeoutMs: 5_000, maxBytes: 1_000, hops: 0 }).then(
      async (answer) => [answer.status, await textOf(answer)],
      ({ message }) => strip(message),
    )
    const { status, responseBody, error } = attempt
    told.push({ delivery: error ? strip(error.message) : [status, responseBody], fetch: fetched })
  }
  return told
}

async function listen(t: TestContext, server: Server, scheme: string): Promise<string> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => sockets.add(socket))
  for (const event of ['tlsClientError', 'sessionError', 'error']) server.on(event, () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `${scheme}://receiver.test:${(server.address() as AddressInfo).port}/`
}

const both = (text: string): Told => ({ delivery: text, fetch: text })
const oldTls = 'the server speaks only TLS 1.1 or older, and Annex needs TLS 1.2 or 1.3'
const http2 = 'the server speaks only HTTP/2, and Annex needs HTTP/1.1'
const weak = 'DEFAULT@SECLEVEL=0'

/** The first answer of a TLS server that knows 1.1 at most. */
const hello11 = Buffer.from(`160302002a020000260302${'00'.repeat(32)}00002f00`, 'hex')
/** The settings of an HTTP/2 server, before any request. */
const settings = Buffer.from('00001204000000000000030000008000040000000100050000ffff', 'hex')

describe('the error for a server with another protocol names it:', () => {
  const servers: [what: string, scheme: string, open: () => Server, text: string][] = [
    [
      'TLS 1.1 at most, by its alert',
      'https',
      () =>
        createTls({ ...sign('receiver.test'), minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: weak }),
      `ORIGIN failed: ${oldTls} (ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION).`,
    ],
    [
      'TLS 1.0 alone',
      'https',
      () => createTls({ ...sign('receiver.test'), minVersion: 'TLSv1', maxVersion: 'TLSv1', ciphers: weak }),
      `ORIGIN failed: ${oldTls} (ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION).`,
    ],
    [
      'HTTP/2 alone, over TLS',
      'https',
      () => createSecureServer({ ...sign('receiver.test'), allowHTTP1: false }),
      `ORIGIN failed: ${http2} (ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL).`,
    ],
    [
      'HTTP/2 over TLS, without negotiating it',
      'https',
      () => createTls(sign('receiver.test'), (socket) => void socket.on('error', () => {}).write(settings)),
      `ORIGIN failed: ${http2} (HPE_INVALID).`,
    ],
    ['HTTP/2 alone, without TLS', 'http', () => createHttp2(), `ORIGIN failed: ${http2} (HPE_INVALID).`],
    [
      'TLS with ciphers of its own',
      'https',
      () =>
        createTls({ ...sign('receiver.test'), maxVersion: 'TLSv1.2', ciphers: 'ECDHE-RSA-AES128-SHA256' }),
      'ORIGIN failed: the server and Annex have no cipher or curve in common (ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE).',
    ],
  ]
  for (const [what, scheme, open, text] of servers) {
    it(what, async (t) => {
      const url = await listen(t, open(), scheme)
      assert.deepEqual(await ask(t, url, 2), [both(text), both(text)])
    })
  }

  it('TLS 1.1 or older, in its first answer', async (t) => {
    const { port } = await serveRaw(t, (socket) => socket.once('data', () => socket.write(hello11)))
    const [told] = await ask(t, `https://receiver.test:${port}/`)
    assert.deepEqual(told, both(`ORIGIN failed: ${oldTls} (ERR_SSL_UNSUPPORTED_PROTOCOL).`))
  })

  it('a server with TLS 1.3 or HTTP/2 beside HTTP/1.1 gets the request', async (t) => {
    const server = createSecureServer({ ...sign('receiver.test'), allowHTTP1: true }, (_, response) => {
      response.end('taken')
    })
    const url = await listen(t, server, 'https')
    assert.deepEqual(await ask(t, url), [{ delivery: [200, 'taken'], fetch: [200, 'taken'] }])
  })
})

describe('the error for an answer with an unknown HTTP status names it:', () => {
  const switches =
    'ORIGIN failed: the answer switches to another protocol, for which nothing asked (HTTP_101).'
  const none = (status: string) =>
    `ORIGIN failed: HTTP has no status ${status}, which the answer has (HTTP_${status}).`
  const answers: [head: string, told: string][] = [
    ['101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n', switches],
    ['101 Switching Protocols\r\n\r\n', switches],
    ['101 \r\n\r\n', switches],
    ['000 Zero\r\ncontent-length: 0\r\n\r\n', none('000')],
    ['001 One\r\n\r\n', none('001')],
    ['099 Below\r\ncontent-length: 0\r\n\r\n', none('099')],
  ]
  for (const [head, text] of answers) {
    for (const pieces of [1, 3, head.length]) {
      it(`${JSON.stringify(head)} in ${pieces === head.length ? 'bytes' : `${pieces} parts`}`, async (t) => {
        const bytes = `HTTP/1.1 ${head}`
        const size = Math.ceil(bytes.length / pieces)
        const { urlOrigin } = await serveRaw(t, (socket) => {
          socket.setNoDelay(true)
          socket.once('data', async () => {
            for (let at = 0; at < bytes.length; at += size) {
              socket.write(bytes.slice(at, at + size))
              await new Promise(setImmediate)
            }
          })
        })
        assert.deepEqual(await ask(t, urlOrigin, 2), [both(text), both(text)])
      })
    }
  }

  it('after interim answers', async (t) => {
    const { urlOrigin } = await serveRaw(t, (socket) => {
      socket.once('data', () => socket.write('HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 000 Zero\r\n\r\n'))
    })
    assert.deepEqual(await ask(t, urlOrigin), [both(none('000'))])
  })
})

describe('an answer with 204 or 304 has no body, at any declared length', () => {
  const heads = [204, 304].flatMap((status) =>
    [
      'content-length: 5',
      'content-length: 0',
      'content-length: 99999999',
      'transfer-encoding: chunked',
      'x: y',
    ].map((header) => [status, header] as const),
  )
  for (const [status, header] of heads) {
    for (const body of ['', 'hello']) {
      it(`${status} with ${header}, and ${body === '' ? 'no bytes' : 'bytes'} after it`, async (t) => {
        const { urlOrigin } = await serveRaw(t, (socket) => {
          socket.on('data', () => socket.write(`HTTP/1.1 ${status} X\r\n${header}\r\n\r\n${body}`))
        })
        const told = await ask(t, urlOrigin, 3)
        for (const one of told) assert.deepEqual(one, { delivery: [status, ''], fetch: [status, ''] })
      })
    }
  }
})
