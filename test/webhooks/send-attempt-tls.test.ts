import assert from 'node:assert/strict'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { after, describe, it, type TestContext } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { sendAttempt } from '../../host/webhooks/send-attempt.ts'
import { type Certificate, openAuthority } from '../egress/certificates.ts'
import { openEgress, serve } from '../egress/local-server.ts'

const { authority, sign, selfSign } = openAuthority(after)
setDefaultCACertificates([...getCACertificates('default'), authority])

/** An HTTPS server with a certificate; gives its port, and counts the requests that got through. */
async function serveTls(t: TestContext, certificate: Certificate) {
  let requests = 0
  const server = createServer(certificate, (_, response) => {
    requests += 1
    response.end('ok')
  })
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, requests: () => requests }
}

const openHere = (t: TestContext) =>
  openEgress(t, { resolve: async () => [{ address: '127.0.0.1', family: 4 }] })

const deliveryTo = (url: string) => ({ id: 'dlv_1', eventId: 'evt_1', url, body: '{}' })
const send = (egress: ReturnType<typeof openEgress>, url: string) =>
  sendAttempt(egress, deliveryTo(url), { current: 'whsec_test' }, { nowMs: 0 })

describe('an attempt over TLS', () => {
  it('has the times of DNS, connect, TLS and first byte; the next attempt reuses the connection', async (t) => {
    const { port } = await serveTls(t, sign('receiver.test'))
    const egress = openHere(t)
    const first = await send(egress, `https://receiver.test:${port}/`)
    assert.equal(first.outcome, 'delivered')
    assert.deepEqual(Object.keys(first.timing), ['dnsMs', 'connectMs', 'tlsMs', 'firstByteMs'])
    const sum = Object.values<unknown>(first.timing).reduce((total: number, ms) => total + Number(ms), 0)
    assert.ok(sum <= first.durationMs + 1, `${sum} of ${first.durationMs} ms`)
    // undici reuses a connection only after a turn of the event loop.
    await setTimeout(10)
    const second = await send(egress, `https://receiver.test:${port}/`)
    assert.deepEqual(Object.keys(second.timing), ['reused', 'firstByteMs'])
  })

  for (const [what, make, reason] of [
    [
      'self-signed',
      () => selfSign('receiver.test'),
      'the certificate is self-signed (DEPTH_ZERO_SELF_SIGNED_CERT)',
    ],
    [
      'expired',
      () => sign('receiver.test', { to: '20210101000000Z' }),
      'the certificate has expired (CERT_HAS_EXPIRED)',
    ],
    [
      'not valid yet',
      () => sign('receiver.test', { from: '20980101000000Z' }),
      'the certificate is not valid yet (CERT_NOT_YET_VALID)',
    ],
    [
      'for another name',
      () => sign('other.test'),
      'the certificate is for another name (ERR_TLS_CERT_ALTNAME_INVALID)',
    ],
  ] as const) {
    it(`sends nothing when the certificate is ${what}, and names the reason`, async (t) => {
      const { port, requests } = await serveTls(t, make())
      const attempt = await send(openHere(t), `https://receiver.test:${port}/hook?token=abc`)
      assert.deepEqual([attempt.outcome, attempt.status, requests()], ['error', undefined, 0])
      assert.deepEqual(attempt.error, {
        code: 'egress_failed',
        message: `POST https://receiver.test:${port} failed: ${reason}.`,
      })
      assert.ok(!('firstByteMs' in attempt.timing))
    })
  }

  it('fails at a port that speaks plain HTTP, and plain HTTP fails at a TLS port', async (t) => {
    const plain = await serve(t, (_, response) => response.end())
    const toPlain = await send(openHere(t), `https://receiver.test:${plain.port}/`)
    assert.match(String(toPlain.error?.message), /failed: the server does not speak TLS \(E/)
    const { port, requests } = await serveTls(t, sign('receiver.test'))
    const toTls = await send(openHere(t), `http://receiver.test:${port}/`)
    assert.equal(toTls.error?.code, 'egress_failed')
    assert.equal(requests(), 0)
  })
})
