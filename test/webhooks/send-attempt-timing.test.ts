import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import type { Egress } from '../../host/egress/egress.ts'
import { sendAttempt } from '../../host/webhooks/send-attempt.ts'
import { closedPort, openEgress, serve, serveRaw } from '../egress/local-server.ts'
import { deliveryTo, ok, secret } from './receivers.ts'

const send = (egress: Egress, url: string, timeoutMs = 5_000) =>
  sendAttempt(egress, deliveryTo(url), { current: secret }, { nowMs: 0, timeoutMs })

/** Timers may be early by up to two milliseconds. */
const atLeast = (ms: number | undefined, bound: number): void => assert.ok((ms ?? 0) >= bound - 2, `${ms} ms`)

/** Waits for at least this time. A timer counts from the start of its event-loop turn, which may be long ago on a busy machine. */
async function wait(ms: number): Promise<void> {
  const endMs = performance.now() + ms
  for (let restMs = ms; restMs > 0; restMs = endMs - performance.now()) await setTimeout(restMs)
}

describe('the timing of an attempt', () => {
  it('omits DNS for an address, TLS for plain HTTP, and both for a kept connection', async (t) => {
    const { urlOrigin } = await serve(t, (_, response) => response.end())
    const egress = openEgress(t)
    assert.deepEqual(Object.keys((await send(egress, urlOrigin)).timing), ['connectMs', 'firstByteMs'])
    for (let round = 0; round < 3; round += 1) {
      // undici reuses a connection only after a turn of the event loop.
      await setTimeout(10)
      assert.deepEqual(Object.keys((await send(egress, urlOrigin)).timing), ['reused', 'firstByteMs'])
    }
  })

  it('includes a new connection when the receiver closed the kept one', async (t) => {
    const { urlOrigin } = await serve(t, (_, response) => response.setHeader('connection', 'close').end())
    const egress = openEgress(t)
    for (let round = 0; round < 3; round += 1) {
      assert.deepEqual(Object.keys((await send(egress, urlOrigin)).timing), ['connectMs', 'firstByteMs'])
    }
  })

  it('distinguishes a slow name from a slow receiver', async (t) => {
    const { port } = await serve(t, (_, response) => wait(80).then(() => response.end()))
    const egress = openEgress(t, {
      resolve: async () => {
        await wait(50)
        return [{ address: '127.0.0.1', family: 4 }]
      },
    })
    const { timing, durationMs } = await send(egress, `http://slow.test:${port}/`)
    atLeast(timing.dnsMs, 50)
    atLeast(timing.firstByteMs, 80)
    atLeast(durationMs, 130)
    assert.ok((timing.dnsMs ?? 0) + (timing.firstByteMs ?? 0) <= durationMs + 1, JSON.stringify(timing))
  })

  it('includes the lookup of a name in the hosts file', async (t) => {
    const { port } = await serve(t, (_, response) => response.end())
    const egress = openEgress(t, { allow: ['localhost'] })
    const { timing } = await send(egress, `http://localhost:${port}/`)
    assert.deepEqual(Object.keys(timing), ['dnsMs', 'connectMs', 'firstByteMs'])
  })

  it('belongs to the connection of the attempt when several run at once', async (t) => {
    const { port } = await serve(t, (_, response) => wait(30).then(() => response.end()))
    const egress = openEgress(t)
    const url = `http://127.0.0.1:${port}`
    const attempts = await Promise.all(Array.from({ length: 10 }, () => send(egress, url)))
    for (const { timing } of attempts) assert.deepEqual(Object.keys(timing), ['connectMs', 'firstByteMs'])
    await setTimeout(10)
    const later = await Promise.all(Array.from({ length: 10 }, () => send(egress, url)))
    for (const { timing } of later) assert.deepEqual(Object.keys(timing), ['reused', 'firstByteMs'])
  })

  it('ends the first-byte part at the first byte, before the rest of the head and the body', async (t) => {
    const { urlOrigin } = await serveRaw(t, (socket) => {
      socket.once('data', async () => {
        await wait(50)
        socket.write('H')
        await wait(100)
        socket.write(`${ok.slice(1)}content-length: 2\r\n\r\na`)
        await wait(100)
        socket.write('b')
      })
    })
    const { timing, durationMs, responseBody } = await send(openEgress(t), urlOrigin)
    assert.equal(responseBody, 'ab')
    atLeast(timing.firstByteMs, 50)
    atLeast(durationMs - (timing.firstByteMs ?? Infinity), 190)
  })

  it('has the finished parts when there is no answer', async (t) => {
    const silent = await serveRaw(t, () => {})
    assert.deepEqual(Object.keys((await send(openEgress(t), silent.urlOrigin, 100)).timing), ['connectMs'])
    const closed = await send(openEgress(t), `http://127.0.0.1:${await closedPort()}`)
    assert.deepEqual(closed.timing, {})
    const refused = await send(openEgress(t, { allow: [] }), 'http://localhost:8080/')
    assert.equal(refused.error?.code, 'egress_refused')
    assert.deepEqual(Object.keys(refused.timing), ['dnsMs'])
    assert.deepEqual((await send(openEgress(t), 'nonsense')).timing, {})
  })
})
