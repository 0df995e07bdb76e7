import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { after, before, describe, it } from 'node:test'
import { type Annex, installSample, type Json, startAnnex, until } from '../support/annex.ts'
import { owe, senderPlugin, watchDeliveries } from '../support/sender.ts'

describe('sending deliveries again', () => {
  const ends = new AsyncDisposableStack()
  let annex: Annex
  let endpoint: string
  before(async () => {
    annex = await startAnnex({ plugins: { sender: senderPlugin }, flags: { DELIVERY_RETRY_SECONDS: '1' } })
    ends.defer(annex.close)
    endpoint = (await installSample(annex, 'sender')).endpoint
  })
  after(() => ends.disposeAsync())

  const { receive, delivery, settled } = watchDeliveries(ends, () => annex.api)
  const sendFailed = (body: object) => annex.api('POST', '/v1/deliveries/send-failed', body)

  it('begins a new round of the schedule for a failed delivery, and continues its attempt numbers', async () => {
    // Two attempts are one round.
    const receiver = await receive(503, 503, 503, 200)
    const [id = ''] = await owe(endpoint, { url: receiver.url })
    assert.deepEqual([(await settled(id)).state, receiver.received.length], ['failed', 2])
    const again = await annex.api('POST', `/v1/deliveries/${id}/send`)
    assert.deepEqual([again.status, again.json.state, again.json.reason], [202, 'pending', undefined])
    const { state, attemptList } = await settled(id)
    assert.equal(state, 'delivered')
    assert.deepEqual(
      attemptList.map(({ number, response }: Json) => [number, response.status]),
      [
        [1, 503],
        [2, 503],
        [3, 503],
        [4, 200],
      ],
    )
    const bodies = new Set(receiver.received.map(({ body }) => body))
    assert.equal(bodies.size, 1, 'the same bytes')
  })

  it('counts and sends the failed ones of the named organization alone', async () => {
    const receiver = await receive(503, 503, 200)
    const [id = ''] = await owe(endpoint, { url: receiver.url, type: 'of-one' })
    await settled(id)
    const org = (await annex.api('POST', '/v1/orgs', { subdomain: 'other', title: 'Other' })).json
    const { token } = (await annex.api('POST', `/v1/orgs/${org.id}/tokens`, { role: 'editor' })).json
    const since = new Date(0).toISOString()
    const count = async (organization: string, bearer?: string) =>
      annex.api(
        'POST',
        '/v1/deliveries/send-failed',
        { since, organization, eventType: 'of-one', dryRun: true },
        bearer,
      )
    const sample = annex.server.samples.organization
    assert.equal((await count(sample)).json.count, 1)
    assert.equal((await count('other')).json.count, 0)
    assert.equal((await count('missing')).status, 404)
    assert.equal((await count(sample, token)).status, 404)
    const sent = await sendFailed({ since, organization: 'other', eventType: 'of-one' })
    assert.deepEqual([sent.json.count, receiver.received.length], [0, 2])
  })

  it('sends the same event again for a delivered one', async () => {
    const receiver = await receive(200)
    const [id = ''] = await owe(endpoint, { url: receiver.url })
    await settled(id)
    assert.equal((await annex.api('POST', `/v1/deliveries/${id}/send`)).status, 202)
    const [first, second] = await receiver.waitFor(2)
    assert.equal(second?.body, first?.body)
    const { state, attempts } = await until(
      () => delivery(id),
      ({ attempts }) => attempts === 2,
    )
    assert.deepEqual([state, attempts], ['delivered', 2])
  })

  it('makes an attempt now during a long Retry-After, in the same round of the schedule', async () => {
    const later = (response: ServerResponse) => void response.writeHead(503, { 'retry-after': '3600' }).end()
    for (const [answers, state] of [
      [[later, 200], 'delivered'],
      [[later, later, 200], 'failed'],
    ] as const) {
      const receiver = await receive(...answers)
      const [id = ''] = await owe(endpoint, { url: receiver.url })
      const waiting = await until(
        () => delivery(id),
        ({ attempts }) => attempts === 1,
      )
      assert.ok(Date.parse(waiting.nextAttemptAt) - Date.now() > 3_000_000, waiting.nextAttemptAt)
      const sent = await annex.api('POST', `/v1/deliveries/${id}/send`)
      assert.deepEqual([sent.status, sent.json.state, sent.json.attempts], [202, 'pending', 1])
      assert.equal((await settled(id)).state, state)
      assert.equal(receiver.received.length, 2)
    }
  })

  it('refuses a running or waiting delivery with 409, and an unknown one with 404', async () => {
    const receiver = await receive(() => {}, 200)
    const [id = ''] = await owe(endpoint, { url: receiver.url })
    await receiver.waitFor(1)
    const { status, json } = await annex.api('POST', `/v1/deliveries/${id}/send`)
    assert.deepEqual([status, json.error.code], [409, 'conflict'])
    assert.match(json.error.message, /is being sent/)
    const { receiver: to } = await delivery(id)
    await annex.api('POST', `/v1/receivers/${to}/pause`, {})
    const [held = ''] = await owe(endpoint, { url: receiver.url })
    const refused = await annex.api('POST', `/v1/deliveries/${held}/send`)
    assert.deepEqual([refused.status, refused.json.error.code], [409, 'conflict'])
    assert.match(refused.json.error.message, new RegExp(`npx annex receivers resume ${to}$`))
    assert.equal((await annex.api('POST', '/v1/deliveries/dlv_none/send')).status, 404)
  })

  it('counts failed deliveries in a dry run, and sends each once, spread over time', async () => {
    const receiver = await receive(400)
    const before = await owe(endpoint, { url: receiver.url, type: 'early' })
    for (const id of before) await settled(id)
    await new Promise((resolve) => setTimeout(resolve, 10))
    const since = new Date().toISOString()
    const ids = await owe(endpoint, { url: receiver.url, type: 'late' }, 6)
    for (const id of ids) assert.equal((await settled(id)).state, 'failed')
    const filter = { since, receiver: (await delivery(ids[0] ?? '')).receiver }
    const dry = await sendFailed({ ...filter, dryRun: true })
    assert.deepEqual([dry.status, dry.json], [200, { dryRun: true, count: 6, disabled: 0 }])
    assert.equal((await sendFailed({ ...filter, eventType: 'early', dryRun: true })).json.count, 0)
    assert.equal(receiver.received.length, 7, 'a dry run sends nothing')
    const askedAt = Date.now()
    const sent = await sendFailed({ ...filter, perSecond: 4 })
    assert.deepEqual([sent.status, sent.json], [202, { dryRun: false, count: 6, disabled: 0, seconds: 2 }])
    // A busy machine may send the first one late, and none early.
    const last = (await receiver.waitFor(13)).at(-1)
    assert.ok((last?.atMs ?? 0) - askedAt >= 1_000, 'six, four a second')
    for (const id of ids) {
      const { attempts } = await until(
        () => delivery(id),
        ({ state, attempts }) => state === 'failed' && attempts === 2,
      )
      assert.equal(attempts, 2)
    }
    assert.equal((await delivery(before[0] ?? '')).attempts, 1)
  })

  it('answers once all failed deliveries are pending, each with its due time', async () => {
    const receiver = await receive(400)
    const since = new Date().toISOString()
    const ids = await owe(endpoint, { url: receiver.url, type: 'many' }, 8)
    for (const id of ids) await settled(id)
    const { json } = await sendFailed({ since, eventType: 'many', perSecond: 0.1 })
    assert.deepEqual([json.count, json.seconds], [8, 80])
    const { items } = (await annex.api('GET', '/v1/deliveries?state=pending&eventType=many')).json
    assert.ok(items.length >= 7, `${items.length} pending`)
    const times = items.map(({ nextAttemptAt }: Json) => Date.parse(nextAttemptAt)).reverse()
    for (let n = 2; n < times.length; n += 1) assert.equal(times[n] - times[n - 1], 10_000)
    assert.equal(
      (await sendFailed({ since, eventType: 'many' })).json.count <= 1,
      true,
      'pending ones are skipped',
    )
    const now = await annex.api('POST', `/v1/deliveries/${items[0].id}/send`)
    assert.equal(now.status, 202, `one of them is sent now: ${now.json.error?.message}`)
  })

  it('requires a start time, and sends deliveries of the caller’s organization only', async () => {
    assert.equal((await sendFailed({})).status, 422)
    assert.equal((await sendFailed({ since: 'lunch' })).status, 400)
    assert.equal((await sendFailed({ since: '2026-01-01', perSecond: 0 })).status, 422)
    const org = (await annex.api('POST', '/v1/orgs', { subdomain: 'acme', title: 'Acme' })).json
    const { token } = (await annex.api('POST', `/v1/orgs/${org.id}/tokens`, {})).json
    const given = { since: new Date(0).toISOString(), dryRun: true }
    assert.ok((await sendFailed(given)).json.count > 0)
    assert.equal((await annex.api('POST', '/v1/deliveries/send-failed', given, token)).json.count, 0)
  })
})
