import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { after, before, describe, it } from 'node:test'
import { verifyWebhook } from '../../host/webhooks/signature.ts'
import { type Annex, installSample, type Json, startAnnex, until } from '../support/annex.ts'
import type { Received } from '../support/receiver.ts'
import { owe, senderPlugin, watchDeliveries } from '../support/sender.ts'

describe('a receiver', () => {
  const ends = new AsyncDisposableStack()
  let annex: Annex
  let installed: { id: string; endpoint: string; secret: string }
  before(async () => {
    annex = await startAnnex({
      plugins: { sender: senderPlugin },
      flags: { DELIVERY_RETRY_SECONDS: '1,1,1' },
    })
    ends.defer(annex.close)
    installed = await installSample(annex, 'sender')
  })
  after(() => ends.disposeAsync())

  const { receive, delivery, settled } = watchDeliveries(ends, () => annex.api)
  const receiverOf = async (id = ''): Promise<string> => (await delivery(id)).receiver
  const act = (id: string, verb: string, body: object = {}) =>
    annex.api('POST', `/v1/receivers/${id}/${verb}`, body)

  it('is listed and shown with its state, to its own organization', async () => {
    const receiver = await receive(200)
    const [id] = await owe(installed.endpoint, { url: receiver.url })
    const receiverId = await receiverOf(id)
    await settled(id ?? '')
    const { json } = await annex.api('GET', `/v1/receivers?installation=${installed.id}&state=active`)
    const listed = json.items.find((item: Json) => item.id === receiverId)
    assert.deepEqual(
      [listed.url, listed.state, listed.signedBy, listed.ordered],
      [receiver.url, 'active', 'installation', false],
    )
    const shown = await annex.api('GET', `/v1/receivers/${receiverId}`)
    assert.deepEqual(shown.json.pending, { due: 0, waiting: 0 })
    assert.equal((await annex.api('GET', '/v1/receivers?state=asleep')).status, 400)
    const org = (await annex.api('POST', '/v1/orgs', { subdomain: 'other', title: 'Other' })).json
    const { token } = (await annex.api('POST', `/v1/orgs/${org.id}/tokens`, {})).json
    assert.deepEqual((await annex.api('GET', '/v1/receivers', undefined, token)).json.items, [])
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['POST', '/pause'],
      ['POST', '/resume'],
      ['POST', '/example'],
    ] as const) {
      const { status } = await annex.api(
        method,
        `/v1/receivers/${receiverId}${path}`,
        method === 'GET' ? undefined : {},
        token,
      )
      assert.equal(status, 404, `${method} ${path}`)
    }
    assert.equal((await annex.api('GET', `/v1/receivers/${receiverId}`)).json.state, 'active')
  })

  it('shows when its open circuit ends', async () => {
    const receiver = await receive(503)
    const [id] = await owe(installed.endpoint, { url: receiver.url, type: 'down' }, 12)
    const receiverId = await receiverOf(id)
    const shown = () => annex.api('GET', `/v1/receivers/${receiverId}`)
    assert.ok(!('heldBackUntil' in (await shown()).json) || receiver.received.length >= 10)
    const { json } = await until(shown, ({ json }) => json.heldBackUntil !== undefined)
    const aheadMs = Date.parse(json.heldBackUntil) - Date.now()
    // A circuit is open for five minutes and a tenth of them at most.
    assert.ok(aheadMs < 330_000, `${aheadMs} ms ahead`)
    assert.ok(receiver.received.length >= 10)
    const { items } = (await annex.api('GET', `/v1/receivers?installation=${installed.id}`)).json
    const listed = items.find((item: Json) => item.id === receiverId)
    assert.equal(listed.heldBackUntil, json.heldBackUntil)
    const paused = await act(receiverId, 'pause')
    assert.deepEqual([paused.json.state, paused.json.heldBackUntil], ['paused', undefined])
  })

  it('gets attempts at once after a resume, although its circuit was open', async () => {
    const receiver = await receive(...Array(20).fill(503), 200)
    const ids = await owe(installed.endpoint, { url: receiver.url, type: 'back' }, 12)
    const receiverId = await receiverOf(ids[0])
    const shown = () => annex.api('GET', `/v1/receivers/${receiverId}`)
    for (let n = 0; n < 12 && (await shown()).json.pending.due > 0; n += 1) {
      const leftAlone = ({ json }: { json: Json }) =>
        json.heldBackUntil !== undefined || json.pending.due === 0
      if ((await until(shown, leftAlone)).json.pending.due === 0) break
      const before = receiver.received.length
      const resumed = await act(receiverId, 'resume')
      // A retry that is answered well closes the circuit as well.
      if (resumed.status === 409) continue
      assert.deepEqual([resumed.status, resumed.json.state], [200, 'active'])
      assert.equal(resumed.json.heldBackUntil, undefined)
      // A retry takes a second; an open circuit takes five or more.
      await receiver.waitFor(before + 1)
    }
    await until(shown, ({ json }) => json.pending.due === 0)
    assert.ok(receiver.received.length > 20)
  })

  it('keeps its deliveries waiting during a pause', async () => {
    // Else the retry may come before the pause.
    const later = (response: ServerResponse) => void response.writeHead(503, { 'retry-after': '5' }).end()
    const receiver = await receive(later, 200)
    const [early = ''] = await owe(installed.endpoint, { url: receiver.url })
    await receiver.waitFor(1)
    const receiverId = await receiverOf(early)
    const paused = await act(receiverId, 'pause', { reason: 'moving house' })
    assert.deepEqual([paused.json.state, paused.json.reason], ['paused', 'moving house'])
    const lots = Array.from({ length: 10 }, () => owe(installed.endpoint, { url: receiver.url }, 30))
    const late = (await Promise.all(lots)).flat()
    const { createdAt } = await delivery(early)
    const shown = () => annex.api('GET', `/v1/receivers/${receiverId}`)
    const waiting = await until(shown, ({ json }) => json.pending.waiting === 301)
    const sinceMs = Date.parse(waiting.json.pending.oldestAt) - Date.parse(createdAt)
    assert.ok(Math.abs(sinceMs) < 1_000, `pending since ${sinceMs} ms after the oldest one was created`)
    assert.equal(receiver.received.length, 1)
    assert.equal((await delivery(early)).nextAttemptAt, undefined)
    assert.equal((await act(receiverId, 'pause')).status, 409)
    const resumed = await act(receiverId, 'resume')
    assert.deepEqual([resumed.json.state, resumed.json.reason], ['active', undefined])
    await receiver.waitFor(302)
    for (const id of [early, ...late.slice(-2)]) assert.equal((await settled(id)).state, 'delivered')
    assert.equal((await act(receiverId, 'resume')).status, 409)
  })

  it('is disabled after a 410, and can get failed deliveries again after a resume', async () => {
    const receiver = await receive(410, 200)
    const [gone = ''] = await owe(installed.endpoint, { url: receiver.url })
    assert.equal((await settled(gone)).state, 'failed')
    const receiverId = await receiverOf(gone)
    const shown = await until(
      () => annex.api('GET', `/v1/receivers/${receiverId}`),
      ({ json }) => json.state === 'disabled',
    )
    assert.match(shown.json.reason, /410/)
    const [refused = ''] = await owe(installed.endpoint, { url: receiver.url })
    assert.match((await settled(refused)).reason, /^receiver_disabled: /)
    for (const asked of [annex.api('POST', `/v1/deliveries/${gone}/send`), act(receiverId, 'example')]) {
      const { status, json } = await asked
      assert.equal(status, 409)
      assert.match(json.error.message, /npx annex receivers resume rcv_/)
    }
    const since = new Date(0).toISOString()
    const filter = { since, receiver: receiverId }
    const dry = await annex.api('POST', '/v1/deliveries/send-failed', { ...filter, dryRun: true })
    assert.deepEqual(dry.json, { dryRun: true, count: 0, disabled: 2 })
    assert.equal((await act(receiverId, 'resume')).json.state, 'active')
    const sent = await annex.api('POST', '/v1/deliveries/send-failed', filter)
    assert.deepEqual([sent.status, sent.json.count, sent.json.disabled], [202, 2, 0])
    for (const id of [gone, refused]) {
      const { state } = await until(
        () => delivery(id),
        ({ state }) => state === 'delivered',
      )
      assert.equal(state, 'delivered')
    }
  })

  it('gets one delivery after the other when it is ordered, also pending ones', async () => {
    const receiver = await receive(503, 503, 200)
    const url = receiver.url
    const [first = ''] = await owe(installed.endpoint, { url, id: 'order-0' })
    await receiver.waitFor(1)
    const receiverId = await receiverOf(first)
    await act(receiverId, 'pause')
    for (let n = 1; n < 4; n += 1) await owe(installed.endpoint, { url, id: `order-${n}` })
    const changed = await annex.api('PATCH', `/v1/receivers/${receiverId}`, { ordered: true })
    assert.equal(changed.json.ordered, true)
    for (let n = 4; n < 8; n += 1) await owe(installed.endpoint, { url, id: `order-${n}` })
    await act(receiverId, 'resume')
    await receiver.waitFor(10)
    const ids = receiver.received.map(({ body }) => JSON.parse(body).eventId)
    const expected = Array.from({ length: 8 }, (_, n) => `order-${n}`)
    // The first delivery failed twice, and no other delivery overtook it.
    assert.deepEqual(ids, ['order-0', 'order-0', ...expected])
  })

  it('gets a signed example on request, which is marked as one', async () => {
    const receiver = await receive(200)
    const [id] = await owe(installed.endpoint, { url: receiver.url })
    const receiverId = await receiverOf(id)
    const example = await act(receiverId, 'example', { type: 'page_feedback' })
    assert.deepEqual([example.status, example.json.event.type], [202, 'page_feedback'])
    assert.equal((await settled(example.json.id)).state, 'delivered')
    const [, { body, headers }] = (await receiver.waitFor(2)) as [Received, Received]
    const event = JSON.parse(body)
    assert.deepEqual(
      [event.type, event.example, event.installationId, event.eventId],
      ['page_feedback', true, installed.id, example.json.event.id],
    )
    const signature = String(headers['x-service-signature'])
    const nowSeconds = Date.now() / 1000
    assert.deepEqual(verifyWebhook(signature, body, installed.secret, { nowSeconds }), { valid: true })
    assert.equal((await act(receiverId, 'example', { type: 'invented' })).status, 422)
  })
})
