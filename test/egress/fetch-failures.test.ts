import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { describe, it } from 'node:test'
import { type EgressRequest, egressFetch } from '../../host/egress/fetch.ts'
import { closedPort, openEgress, serveRaw } from './local-server.ts'

const limits = { timeoutMs: 5_000, maxBytes: 65_536, hops: 0 }

const toRequest = (url: string): EgressRequest => ({ method: 'GET', url, headers: [], redirect: 'follow' })

describe('an outbound request', () => {
  const head = 'HTTP/1.1 200 OK\r\n'
  const slow = { ...limits, timeoutMs: 300 }

  it('times out when a server accepts and never answers', async (t) => {
    const { urlOrigin } = await serveRaw(t, () => {})
    await assert.rejects(egressFetch(openEgress(t), toRequest(urlOrigin), slow), {
      code: 'egress_timeout',
      message: `GET ${urlOrigin} was not complete after 300 ms.`,
    })
  })

  for (const [what, first] of [
    ['headers', `${head}x: `],
    ['a short body', `${head}content-length: 5000\r\n\r\n`],
  ] as const) {
    it(`times out when a server trickles ${what}, and closes the connection`, async (t) => {
      const { promise: closed, resolve } = Promise.withResolvers<void>()
      const { urlOrigin } = await serveRaw(t, (socket) => {
        socket.write(first)
        const timer = setInterval(() => socket.write('a'), 20)
        socket.on('close', () => {
          clearInterval(timer)
          resolve()
        })
      })
      await assert.rejects(egressFetch(openEgress(t), toRequest(urlOrigin), slow), { code: 'egress_timeout' })
      await closed
    })
  }

  it('reads an endless body until its reader stops, and closes the connection', async (t) => {
    const { promise: closed, resolve } = Promise.withResolvers<void>()
    const { urlOrigin } = await serveRaw(t, (socket) => {
      socket.write(`${head}\r\n`)
      const timer = setInterval(() => socket.write('a'), 5)
      socket.on('close', () => {
        clearInterval(timer)
        resolve()
      })
    })
    const { body } = await egressFetch(openEgress(t), toRequest(urlOrigin), slow)
    assert.ok(body instanceof Readable)
    let bytes = 0
    for await (const chunk of body) {
      bytes += chunk.length
      if (bytes > 5) break
    }
    await closed
  })

  it('fails when its caller aborts before or during the request', async (t) => {
    const { urlOrigin } = await serveRaw(t, () => {})
    const egress = openEgress(t)
    const early = AbortSignal.abort()
    await assert.rejects(egressFetch(egress, toRequest(urlOrigin), { ...limits, signal: early }), {
      code: 'egress_failed',
      message: /abandoned by its caller/,
    })
    const controller = new AbortController()
    setTimeout(() => controller.abort(), 50)
    const { signal } = controller
    await assert.rejects(egressFetch(egress, toRequest(urlOrigin), { ...limits, signal }), {
      message: /abandoned/,
    })
  })

  it('names a closed port, a reset, a cut-off body and an answer that is not HTTP', async (t) => {
    const egress = openEgress(t)
    const reset = await serveRaw(t, (socket) => once(socket, 'data').then(() => socket.resetAndDestroy()))
    const cut = await serveRaw(t, (socket) => socket.end(`${head}content-length: 100\r\n\r\nshort`))
    const garbage = await serveRaw(t, (socket) => socket.end('220 mail.example ESMTP\r\n'))
    const cases: [string, RegExp][] = [
      [`http://127.0.0.1:${await closedPort()}`, /the connection was refused \(ECONNREFUSED\)\.$/],
      [reset.urlOrigin, /closed before the answer was complete/],
      [cut.urlOrigin, /closed before the answer was complete/],
      [garbage.urlOrigin, /the answer is not HTTP \(HPE_/],
    ]
    for (const [url, message] of cases) {
      await assert.rejects(egressFetch(egress, toRequest(url), limits), { code: 'egress_failed', message })
    }
  })

  it('fails as too large when the headers of its answer have more than 64 KiB', async (t) => {
    const { urlOrigin } = await serveRaw(t, (socket) => {
      socket.end(`${head}${`x: ${'y'.repeat(1_000)}\r\n`.repeat(70)}\r\n`)
    })
    await assert.rejects(egressFetch(openEgress(t), toRequest(urlOrigin), limits), {
      code: 'egress_too_large',
    })
  })

  it('fails after the egress is closed', async (t) => {
    const egress = openEgress(t)
    const { urlOrigin } = await serveRaw(t, (socket) => socket.once('data', () => void egress.close()))
    await assert.rejects(egressFetch(egress, toRequest(urlOrigin), limits), { code: 'egress_failed' })
  })
})
