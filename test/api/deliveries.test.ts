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

  it('shows an organization its own deliveries only', async () => {
    const org = (await annex.api('POST', '/v1/orgs', { subdomain: 'acme', title: 'Acme' })).json
    const { token } = (await annex.api('POST', `/v1/orgs/${org.id}/tokens`, {})).json
    const { json } = await annex.api('GET', '/v1/deliveries', undefined, token)
    assert.deepEqual(json.items, [])
    assert.equal((await annex.api('GET', `/v1/deliveries/${owed}`, undefined, token)).status, 404)
  })

  it('shows an operator those of the named organization, by its id or subdomain', async () => {
    const org = (await annex.api('POST', '/v1/orgs', { subdomain: 'named', title: 'Named' })).json
    const { token } = (await annex.api('POST', `/v1/orgs/${org.id}/tokens`, {})).json
    const sample = annex.server.samples.organization
    const of = async (path: string, organization: string, bearer?: string) =>
      annex.api('GET', `${path}?organization=${organization}`, undefined, bearer)
    for (const path of ['/v1/deliveries', '/v1/receivers']) {
      const all = (await annex.api('GET', path)).json.items
      assert.ok(all.length > 0, path)
      assert.deepEqual((await of(path, sample)).json.items, all, path)
      for (const name of ['named', org.id]) assert.deepEqual((await of(path, name)).json.items, [], path)
      assert.equal((await of(path, 'missing')).status, 404, path)
      assert.equal((await of(path, 'named', token)).status, 200, path)
      assert.equal((await of(path, sample, token)).status, 404, path)
    }
    assert.equal((await of('/v1/deliveries/feed', sample, token)).status, 404)
    assert.equal((await of('/v1/deliveries/feed', 'missing')).status, 404)
  })

  it('says for how long settled deliveries are kept', async () => {
    assert.equal((await list('')).retentionDays, 30)
  })
})
