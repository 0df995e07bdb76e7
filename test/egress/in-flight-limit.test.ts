import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { describe, it } from 'node:test'
import { createInFlightLimit } from '../../host/egress/in-flight-limit.ts'
import { createFetchCall } from '../../host/sandbox/fetch-call.ts'
import { openEgress, serve } from './local-server.ts'

const never = new AbortController().signal
const settle = () => new Promise((resolve) => setImmediate(resolve))

describe('an in-flight limit', () => {
  it('admits up to its maximum for each key, in the order of arrival', async () => {
    const limit = createInFlightLimit(2)
    const first = await limit.enter('a', never)
    await limit.enter('a', never)
    const order: string[] = []
    const third = limit.enter('a', never)
    third.then(() => order.push('third'))
    limit.enter('a', never).then(() => order.push('fourth'))
    ;(await limit.enter('b', never))()
    await settle()
    assert.deepEqual(order, [])
    first()
    await settle()
    assert.deepEqual(order, ['third'])
    ;(await third)()
    await settle()
    assert.deepEqual(order, ['third', 'fourth'])
  })

  it('does not admit an aborted caller', async () => {
    const limit = createInFlightLimit(1)
    const end = await limit.enter('a', never)
    const leaving = new AbortController()
    const left = limit.enter('a', leaving.signal)
    const stays = limit.enter('a', never)
    leaving.abort()
    await assert.rejects(left, { code: 'egress_failed', message: /abandoned/ })
    await assert.rejects(limit.enter('a', leaving.signal), { code: 'egress_failed' })
    end()
    ;(await stays)()
    ;(await limit.enter('a', never))()
  })
})

describe('the fetches of one installation', () => {
  it('are limited to 16 in flight, and do not block another installation', async (t) => {
    const held: ServerResponse[] = []
    let isOpen = false
    const { urlOrigin } = await serve(t, (_, response) => {
      if (isOpen) response.end()
      else held.push(response)
    })
    const egress = openEgress(t)
    const call = createFetchCall(
      { egress, ownApi: { has: () => false, egress } },
      { timeoutMs: 20_000, maxBytes: 1000, inFlight: 16 },
      { isRequired: false, isOwn: () => false },
    )
    const fetchAs = (installationId: string) =>
      call.run(
        { method: 'GET', url: urlOrigin, headers: [], redirect: 'follow' },
        {
          context: {
            requestId: 'req_1',
            integration: 'one',
            installationId,
            scopes: [],
            hops: 0,
            level: { kind: 'installation', integration: 'one', installationId },
          },
          body: new Uint8Array(),
          signal: never,
        },
      )
    const greedy = Array.from({ length: 20 }, () => fetchAs('inst_greedy'))
    while (held.length < 16) await settle()
    const other = fetchAs('inst_other')
    while (held.length < 17) await settle()
    assert.equal(held.length, 17, 'four of the greedy installation still wait')
    isOpen = true
    for (const response of held) response.end()
    await Promise.all([...greedy, other])
  })

  it('resolve names for their organization, also after a redirect', async (t) => {
    const { port } = await serve(t, (request, response) => {
      const location = request.url === '/' ? `http://second.test:${port}/next` : undefined
      response.writeHead(location === undefined ? 200 : 302, location === undefined ? {} : { location }).end()
    })
    const asked: string[] = []
    const egress = openEgress(t, {
      resolve: async (hostname, tenant) => {
        asked.push(`${hostname} for ${tenant}`)
        return [{ address: '127.0.0.1', family: 4 }]
      },
    })
    const call = createFetchCall(
      { egress, ownApi: { has: () => false, egress } },
      { timeoutMs: 20_000, maxBytes: 1000, inFlight: 16 },
      { isRequired: false, isOwn: () => false },
    )
    const request = { method: 'GET', headers: [], redirect: 'follow' as const }
    const level = { kind: 'installation' as const, integration: 'one', installationId: 'inst_1' }
    const ids = { installationId: 'inst_1', organizationId: 'org_1' }
    await call.run(
      { ...request, url: `http://first.test:${port}/` },
      {
        context: { requestId: 'req_1', integration: 'one', ...ids, scopes: [], hops: 0, level },
        body: new Uint8Array(),
        signal: never,
      },
    )
    assert.deepEqual(asked, ['first.test for org_1', 'second.test for org_1'])
  })
})
