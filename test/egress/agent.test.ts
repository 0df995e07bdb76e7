import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import type { Egress } from '../../host/egress/egress.ts'
import { exchange } from '../../host/egress/exchange.ts'
import { egressFetch } from '../../host/egress/fetch.ts'
import { parseOutboundUrl } from '../../host/egress/outbound-url.ts'
import { openEgress, serve } from './local-server.ts'

const resolve = async () => [{ address: '127.0.0.1', family: 4 }]

/** One server for any number of origins: each name is its own. */
async function serveMany(
  t: TestContext,
  answer: (name: string, response: ServerResponse) => void,
  // By default the receiver asks for a long keep-alive. 0 sends no keep-alive header.
  keepAliveTimeout = 600_000,
) {
  const { port, open, connections } = await serve(
    t,
    (request, response) => {
      request.resume().on('end', () => answer(request.headers.host?.split(':')[0] ?? '', response))
    },
    { keepAliveTimeout },
  )
  return { at: (name: string) => `http://${name}:${port}/`, open, connections }
}

const post = (egress: Egress, url: string, timeoutMs = 20_000) =>
  exchange(egress, {
    url: parseOutboundUrl(url, egress),
    method: 'POST',
    headers: [],
    body: Buffer.from('{}'),
    timeoutMs,
    maxBytes: 100,
  })

/** Waits until the condition holds; the time limit of the test ends the wait. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await setTimeout(10)
}

describe('the agent', () => {
  it('closes the longest idle connections when 1,000 URL origins keep one each', async (t) => {
    const server = await serveMany(t, (_, response) => response.end('ok'))
    const egress = openEgress(t, { resolve, connections: 50 })
    const names = Array.from({ length: 1_000 }, (_, number) => `receiver-${number}.test`)
    let most = 0
    await Promise.all(
      Array.from({ length: 20 }, async () => {
        for (let name = names.pop(); name !== undefined; name = names.pop()) {
          const { answer } = await post(egress, server.at(name))
          assert.equal(answer?.status, 200)
          most = Math.max(most, server.open())
        }
      }),
    )
    assert.equal(server.connections(), 1_000)
    // The server sees the close a little later.
    assert.ok(most <= 150, `${most} at once`)
    await until(() => server.open() <= 50)
    await setTimeout(20)
    const latest = await post(egress, server.at('receiver-0.test'))
    assert.equal(latest.timing.reused, true, 'what was used last is still open')
  })

  it('closes a connection that stays idle', async (t) => {
    const server = await serveMany(t, (_, response) => response.end(), 0)
    const egress = openEgress(t, { resolve, keepAliveMs: 100 })
    await Promise.all(['a.test', 'b.test', 'c.test'].map((name) => post(egress, server.at(name))))
    assert.equal(server.connections(), 3)
    await until(() => server.open() === 0)
  })

  it('does not let one URL origin delay another, and closes no busy connection', async (t) => {
    const held: ServerResponse[] = []
    const server = await serveMany(t, (name, response) => {
      if (name === 'slow.test') held.push(response)
      else response.end()
    })
    const egress = openEgress(t, { resolve, connectionsPerUrlOrigin: 8, connections: 4 })
    const slow = Array.from({ length: 20 }, () => post(egress, server.at('slow.test')))
    await until(() => held.length === 8)
    for (let number = 0; number < 30; number += 1) {
      const { answer } = await post(egress, server.at(`quick-${number % 10}.test`))
      assert.equal(answer?.status, 200)
    }
    assert.equal(held.length, 8, 'twelve of the slow one still wait')
    for (let ended = 0; ended < 20; ended += 1) {
      await until(() => held.length > 0)
      held.shift()?.end()
    }
    for (const { answer } of await Promise.all(slow)) assert.equal(answer?.status, 200)
  })

  it('ends the wait for a connection at the deadline of the request', async (t) => {
    const server = await serveMany(t, () => {})
    const egress = openEgress(t, { resolve, connectionsPerUrlOrigin: 1 })
    const first = post(egress, server.at('silent.test'), 2_000)
    const { error } = await post(egress, server.at('silent.test'), 100)
    assert.match(error?.message ?? '', /not complete after 100 ms \(waiting for a connection\)/)
    assert.match((await first).error?.message ?? '', /not complete after 2000 ms \(waiting for the answer\)/)
  })
})

describe('a request that times out while it waits for a connection', () => {
  it('is not sent, and uses no connection of the next request', async (t) => {
    const held: ServerResponse[] = []
    const server = await serveMany(t, (_, response) => void held.push(response))
    const egress = openEgress(t, { resolve, connectionsPerUrlOrigin: 1 })
    const first = post(egress, server.at('one.test'))
    await until(() => held.length === 1)
    const second = await post(egress, server.at('one.test'), 50)
    assert.equal(second.error?.code, 'egress_timeout')
    const third = post(egress, server.at('one.test'))
    held[0]?.end()
    await until(() => held.length === 2)
    held[1]?.end()
    assert.equal((await first).answer?.status, 200)
    assert.equal((await third).timing.reused, true)
    assert.deepEqual([held.length, server.connections()], [2, 1])
  })
})

describe('a name that never resolves', () => {
  it('delays its own fetch until the deadline, and no other name', async (t) => {
    const server = await serveMany(t, (_, response) => response.end())
    const egress = openEgress(t, {
      resolve: (name) => (name === 'dead.test' ? new Promise(() => {}) : resolve()),
    })
    const limits = { timeoutMs: 200, maxBytes: 100, hops: 0 }
    const get = { method: 'GET', url: server.at('dead.test'), headers: [], redirect: 'follow' as const }
    const dead = assert.rejects(egressFetch(egress, get, limits), { code: 'egress_timeout' })
    assert.equal((await post(egress, server.at('alive.test'))).answer?.status, 200)
    const race = await Promise.race([
      dead.then(() => 'in time'),
      setTimeout(5_000, 'too late', { ref: false }),
    ])
    assert.equal(race, 'in time')
  })
})
