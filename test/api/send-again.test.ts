import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { after, before, describe, it } from 'node:test'
import { type Annex, installSample, type Json, startAnnex, until } from '../support/annex.ts'
import { owe, senderPlugin, watchDeliveries } from '../support/sender.ts'

describe('sending again', () => {
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

  it('one that failed begins a new round of the schedule, and its attempts are counted on', async () => {
    // Two attempts are one round.
    const receiver = await receive(503, 503, 503, 200)
    const [id = ''] = await owe(endpoint, { url: receiver.url })
    assert.deepEqual([(await settled(id)).state, receiver.received.length], ['failed', 2])
    const again = await annex.api('POST', `/v1/deliveries/${id}/send`)
    assert.deepEqual([again.status, again.json.state, again.json.reason], [202, 'owed', undefined])
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

  it('one that was delivered sends the same event once more', async () => {
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

  it('one that waits behind a Retry-After of an hour is tried now, in its round of the schedule', async () => {
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
      assert.deepEqual([sent.status, sent.json.state, sent.json.attempts], [202, 'owed', 1])
      assert.equal((await settled(id)).state, state)
      assert.equal(receiver.received.length, 2)
    }
  })

  it('one that is being sent or waits for a resume is a conflict, and one of nobody is not found', async () => {
    const receiver = await receive(() => {}, 200)
    const [id = ''] = await owe(endpoint, { url: receiver.url })
    await receiver.waitFor(1)
    const { status, json } = await annex.api('POST', `/v1/deliveries/${id}/send`)
    assert.deepEqual([status, json.error.code], [409, 'conflict'])
    assert.match(json.error.message, /is being sent/)
    const { endpoint: to } = await delivery(id)
    await annex.api('POST', `/v1/endpoints/${to}/pause`, {})
    const [held = ''] = await owe(endpoint, { url: receiver.url })
    const refused = await annex.api('POST', `/v1/deliveries/${held}/send`)
    assert.deepEqual([refused.status, refused.json.error.code], [409, 'conflict'])
    assert.match(refused.json.error.message, new RegExp(`annex endpoints resume ${to}$`))
    assert.equal((await annex.api('POST', '/v1/deliveries/dlv_none/send')).status, 404)
  })

  it('all that failed: counted first, then once each, spread over time', async () => {
    const receiver = await receive(400)
    const before = await owe(endpoint, { url: receiver.url, type: 'early' })
    for (const id of before) await settled(id)
    await new Promise((resolve) => setTimeout(resolve, 10))
    const since = new Date().toISOString()
    const ids = await owe(endpoint, { url: receiver.url, type: 'late' }, 6)
    for (const id of ids) assert.equal((await settled(id)).state, 'failed')
    const filter = { since, endpoint: (await delivery(ids[0] ?? '')).endpoint }
    const dry = await sendFailed({ ...filter, dryRun: true })
    assert.deepEqual([dry.status, dry.json], [200, { dryRun: true, count: 6, disabled: 0 }])
    assert.equal((await sendFailed({ ...filter, eventType: 'early', dryRun: true })).json.count, 0)
    assert.equal(receiver.received.length, 7, 'a dry run sends nothing')
    const sent = await sendFailed({ ...filter, perSecond: 4 })
    const { resend, ...told } = sent.json
    assert.deepEqual([sent.status, told], [202, { dryRun: false, count: 6, disabled: 0, seconds: 2 }])
    const again = (await receiver.waitFor(13)).slice(7)
    const [first, last] = [again[0], again.at(-1)]
    assert.ok((last?.atMs ?? 0) - (first?.atMs ?? 0) >= 1_000, 'six, four a second')
    for (const id of ids) {
      const { attempts } = await until(
        () => delivery(id),
        ({ state, attempts }) => state === 'failed' && attempts === 2,
      )
      assert.equal(attempts, 2)
    }
    assert.equal((await delivery(before[0] ?? '')).attempts, 1)
    const { json } = await annex.api('GET', `/v1/resends/${resend}`)
    assert.deepEqual([json.state, json.sent, json.count, json.since], ['done', 6, 6, since])
  })

  it('of many is answered at once, goes on after that, and can be stopped by whoever may see it', async () => {
    const receiver = await receive(400)
    const since = new Date().toISOString()
    const ids = await owe(endpoint, { url: receiver.url, type: 'many' }, 8)
    for (const id of ids) await settled(id)
    // Of 0.3 a second, three are owed ahead.
    const { json } = await sendFailed({ since, perSecond: 0.3 })
    assert.deepEqual([json.count, json.seconds], [8, 27])
    const path = `/v1/resends/${json.resend}`
    const running = await until(
      () => annex.api('GET', path),
      ({ json }) => json.sent > 0,
    )
    assert.deepEqual([running.json.state, running.json.sent, running.json.count], ['running', 3, 8])
    const org = (await annex.api('POST', '/v1/orgs', { subdomain: 'others', title: 'Others' })).json
    const { token } = (await annex.api('POST', `/v1/orgs/${org.id}/tokens`, {})).json
    assert.equal((await annex.api('POST', `${path}/stop`, {}, token)).status, 404)
    assert.equal((await annex.api('GET', '/v1/resends', undefined, token)).json.count, 0)
    const stopped = await annex.api('POST', `${path}/stop`)
    assert.deepEqual([stopped.status, stopped.json.state, stopped.json.sent], [200, 'stopped', 3])
    const again = await annex.api('POST', `${path}/stop`)
    assert.deepEqual([again.status, again.json.error.code], [409, 'conflict'])
    assert.equal((await annex.api('GET', '/v1/resends?limit=1')).json.items[0].id, json.resend)
  })

  it('runs ten at once and no more', async () => {
    const receiver = await receive(400)
    const since = new Date().toISOString()
    for (const id of await owe(endpoint, { url: receiver.url, type: 'ten' }, 12)) await settled(id)
    const begun = []
    for (let n = 0; n < 11; n += 1) begun.push(await sendFailed({ since, perSecond: 0.1 }))
    assert.deepEqual(
      begun.map(({ status }) => status),
      [...Array(10).fill(202), 409],
    )
    assert.match(begun.at(-1)?.json.error.message, /annex resends stop/)
    for (const { json } of begun.slice(0, 10)) await annex.api('POST', `/v1/resends/${json.resend}/stop`)
  })

  it('needs to know since when, and sends an organization’s own alone', async () => {
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
