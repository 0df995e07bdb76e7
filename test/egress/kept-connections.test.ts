import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { type EgressRequest, egressFetch } from '../../host/egress/fetch.ts'
import { sendAttempt } from '../../host/webhooks/send-attempt.ts'
import { deliveryTo, patienceMs, secret } from '../webhooks/receivers.ts'
import { openEgress, serveRaw, textOf } from './local-server.ts'

const limits = { timeoutMs: patienceMs, maxBytes: 1_000, hops: 0 }
const last = 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\ntaken'

/** undici reuses a connection only after a turn of the event loop. */
const rest = () => setTimeout(10)

/** Answers the first request of each connection. The next one calls `then` with the socket. */
async function answerOnce(t: TestContext, then: (socket: Socket) => void) {
  let requests = 0
  const server = await serveRaw(t, (socket) => {
    let isFirst = true
    socket.on('data', () => {
      requests += 1
      if (isFirst) socket.write(last)
      else then(socket)
      isFirst = false
    })
  })
  const egress = openEgress(t)
  const send = () => {
    const options = { nowMs: 0, timeoutMs: patienceMs }
    return sendAttempt(egress, deliveryTo(server.urlOrigin), { current: secret }, options)
  }
  const fetch = (rest: Partial<EgressRequest>) =>
    egressFetch(
      egress,
      { method: 'GET', url: server.urlOrigin, headers: [], redirect: 'follow', ...rest },
      limits,
    )
  return { server, send, fetch, requests: () => requests }
}

const deaths: [what: string, end: (socket: Socket) => void][] = [
  ['closes', (socket) => socket.end()],
  ['resets', (socket) => socket.resetAndDestroy()],
]

describe('a kept connection', () => {
  for (const [what, end] of deaths) {
    it(`that ${what} before the first byte of the answer is replaced within the same attempt`, async (t) => {
      const { server, send, requests } = await answerOnce(t, end)
      for (let round = 0; round < 3; round += 1) {
        const { outcome, status, timing } = await send()
        assert.deepEqual([outcome, status, timing.reused], ['delivered', 200, undefined])
        assert.equal(typeof timing.connectMs, 'number')
        await rest()
      }
      assert.deepEqual([server.connections(), requests()], [3, 5])
    })
  }

  it('that closes during the answer causes no repeat', async (t) => {
    const { send, requests } = await answerOnce(t, (socket) => socket.end('H'))
    await send()
    await rest()
    const { outcome, error } = await send()
    assert.deepEqual([outcome, error?.code, requests()], ['error', 'egress_failed', 2])
  })

  it('with a replacement that closes, too, causes no third try', async (t) => {
    let requests = 0
    const server = await serveRaw(t, (socket) => {
      socket.on('data', () => {
        requests += 1
        if (requests === 1) socket.write(last)
        else socket.end()
      })
    })
    const egress = openEgress(t)
    const options = { nowMs: 0, timeoutMs: patienceMs }
    const send = () => sendAttempt(egress, deliveryTo(server.urlOrigin), { current: secret }, options)
    assert.equal((await send()).outcome, 'delivered')
    await rest()
    assert.equal((await send()).outcome, 'error')
    assert.deepEqual([requests, server.connections()], [3, 2])
  })

  it('that closes is replaced by a new connection, not by another kept one', async (t) => {
    const asked: Socket[] = []
    const server = await serveRaw(t, (socket) => void socket.on('data', () => asked.push(socket)))
    const egress = openEgress(t)
    const options = { nowMs: 0, timeoutMs: patienceMs }
    const send = () => sendAttempt(egress, deliveryTo(server.urlOrigin), { current: secret }, options)
    const untilAsked = async (times: number) => {
      while (asked.length < times) await rest()
    }
    const first = send()
    await untilAsked(1)
    const second = send()
    await untilAsked(2)
    asked[1]?.write(last)
    assert.equal((await second).status, 200)
    await rest()
    const third = send()
    await untilAsked(3)
    assert.equal(asked[2], asked[1])
    asked[0]?.write(last)
    assert.equal((await first).status, 200)
    await rest()
    asked[2]?.end()
    await untilAsked(4)
    assert.ok(asked[3] !== asked[0] && asked[3] !== asked[1])
    asked[3]?.write(last)
    assert.equal((await third).status, 200)
  })

  it('that closes before the first byte of the answer repeats a fetch with a repeatable method', async (t) => {
    const { fetch, requests } = await answerOnce(t, (socket) => socket.end())
    assert.equal(await textOf(await fetch({})), 'taken')
    await rest()
    assert.equal(await textOf(await fetch({ method: 'PUT', body: Buffer.from('a') })), 'taken')
    assert.equal(requests(), 3)
    for (const given of [{ method: 'POST' }, { method: 'PUT', body: Readable.from(['a']) }]) {
      await rest()
      await assert.rejects(fetch(given), { code: 'egress_failed' })
      assert.equal(await textOf(await fetch({})), 'taken')
    }
  })
})
