import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Annex, installSample, type Json, startAnnex, until } from '../support/annex.ts'
import { startReceiver } from '../support/receiver.ts'
import { owe, senderPlugin } from '../support/sender.ts'

describe('GET /v1/deliveries', () => {
  const ends = new AsyncDisposableStack()
  let annex: Annex
  let delivered: string[]
  let owed: string
  let middle: string
  let installation: string
  before(async () => {
    const good = await startReceiver(200)
    ends.defer(good.close)
    const bad = await startReceiver(503)
    ends.defer(bad.close)
    annex = await startAnnex({
      plugins: { sender: senderPlugin },
      flags: { DELIVERY_RETRY_SECONDS: '3600' },
    })
    ends.defer(annex.close)
    const { endpoint, id } = await installSample(annex, 'sender')
    installation = id
    delivered = await owe(endpoint, { url: good.url, type: 'first' }, 2)
    await new Promise((resolve) => setTimeout(resolve, 10))
    middle = new Date().toISOString()
    await new Promise((resolve) => setTimeout(resolve, 10))
    delivered.push(...(await owe(endpoint, { url: good.url, type: 'second' })))
    owed = (await owe(endpoint, { url: bad.url, type: 'second' }))[0] ?? ''
    await until(
      () => list(''),
      ({ items }) => items.every(({ attempts }: Json) => attempts === 1),
    )
  })
  after(() => ends.disposeAsync())

  const list = async (query: string): Promise<Json> =>
    (await annex.api('GET', `/v1/deliveries?${query}`)).json
  const ids = async (query: string): Promise<string[]> => (await list(query)).items.map(({ id }: Json) => id)

  it('lists the newest first, in pages', async () => {
    const all = [...delivered, owed].reverse()
    assert.deepEqual(await ids(''), all)
    const { items, next } = await list('limit=3')
    assert.equal(items.length, 3)
    const rest = await list(`limit=3&page=${next.page}`)
    assert.deepEqual([rest.items.map(({ id }: Json) => id), rest.next], [all.slice(3), undefined])
  })

  it('filters by state, event type, receiver, installation and time', async () => {
    const [first, second, third] = delivered
    assert.deepEqual(await ids('state=pending'), [owed])
    assert.deepEqual(await ids('state=delivered'), [third, second, first])
    assert.deepEqual(await ids('state=failed'), [])
    assert.deepEqual(await ids('eventType=second'), [owed, third])
    assert.deepEqual(await ids('eventType=second&state=delivered'), [third])
    assert.deepEqual(await ids(`before=${middle}`), [second, first])
    assert.deepEqual(await ids(`after=${middle}`), [owed, third])
    assert.deepEqual(await ids(`installation=${installation}&after=${middle}&state=pending`), [owed])
    const { receiver } = (await list('state=pending')).items[0]
    assert.match(receiver, /^rcv_/)
    assert.deepEqual(await ids(`receiver=${receiver}`), [owed])
    assert.deepEqual(await ids('receiver=rcv_none'), [])
  })

  it('shows the next attempt of a pending delivery, and none for others', async () => {
    const { nextAttemptAt, createdAt } = (await list('state=pending')).items[0]
    const waitMs = Date.parse(nextAttemptAt) - Date.parse(createdAt)
    assert.ok(waitMs >= 3_600_000 && waitMs < 2 * 3_600_000, `${waitMs} ms`)
    for (const { nextAttemptAt } of (await list('state=delivered')).items) {
      assert.equal(nextAttemptAt, undefined)
    }
    assert.equal((await annex.api('GET', `/v1/deliveries/${owed}`)).json.nextAttemptAt, nextAttemptAt)
  })

  it('refuses wrong filters with 400', async () => {
    for (const query of ['state=lost', 'after=yesterday', 'before=7', 'limit=0']) {
      const { status, json } = await annex.api('GET', `/v1/deliveries?${query}`)
      assert.deepEqual([status, json.error.code], [400, 'bad_request'], query)
    }
  })

  it('shows an operator those of one organization, and an organization none of another', async () => {
    await annex.api('POST', '/v1/orgs', { subdomain: 'acme', title: 'Acme' })
    const { json: member }: Json = await annex.api('POST', '/v1/orgs/acme/tokens', { role: 'admin' })
    assert.deepEqual(await ids('organization=home'), await ids(''))
    assert.deepEqual(await ids(`organization=${annex.server.samples.organization}`), await ids(''))
    assert.deepEqual(await ids('organization=acme'), [])
    for (const [name, token] of [['none'], ['home', member.token]]) {
      const { status, json } = await annex.api('GET', `/v1/deliveries?organization=${name}`, undefined, token)
      assert.deepEqual([status, json.error.code], [404, 'not_found'], name)
    }
    const own = await annex.api('GET', '/v1/deliveries?organization=acme', undefined, member.token)
    assert.deepEqual([own.status, own.json.items], [200, []])
    await annex.api('DELETE', '/v1/orgs/acme')
  })

  it('shows an organization its own deliveries only', async () => {
    const org = (await annex.api('POST', '/v1/orgs', { subdomain: 'acme', title: 'Acme' })).json
    const { token } = (await annex.api('POST', `/v1/orgs/${org.id}/tokens`, {})).json
    const { json } = await annex.api('GET', '/v1/deliveries', undefined, token)
    assert.deepEqual(json.items, [])
    assert.equal((await annex.api('GET', `/v1/deliveries/${owed}`, undefined, token)).status, 404)
  })
})
