import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { type Annex, installSample, type Json, startAnnex, until } from '../support/annex.ts'
import { exportText, importText, toComparable, toRecords } from '../support/moving.ts'
import { startReceiver } from '../support/receiver.ts'
import { inTorture } from '../support/torture.ts'

/** Owes what it is told to owe, and says of each whether that was taken. */
const script = `
import { createIntegration } from '@annex/runtime'
const isTaken = (call) => call.then(() => true, () => false)
export default createIntegration({
  fetch: async (request, { integration, environment }) => {
    const { deliveries = [], tasks = [], patch } = await request.json()
    const taken = []
    const { installation, apiEndpoint, apiTokens } = environment
    if (patch) {
      const headers = { authorization: 'Bearer ' + apiTokens.installation, 'content-type': 'application/json' }
      const path = '/v1/integrations/mover/installations/' + installation.id
      taken.push((await fetch(apiEndpoint + path, { method: 'PATCH', headers, body: patch })).ok)
    }
    for (const delivery of deliveries) taken.push(await isTaken(integration.queueDelivery(delivery)))
    for (const task of tasks) taken.push(await isTaken(integration.queueTask({ task, schedule: 3600 })))
    return Response.json(taken)
  },
  events: {
    site_view: () => { throw new Error('to be handled again in an hour') },
    installation_setup: ({ previous }) => { if (previous) throw new Error('to be handled again in an hour') },
  },
})`
const plugins = { mover: { script, scopes: ['site:views:read'] } }

describe('whatever an installation holds, another Annex takes', () => {
  let source: Annex
  let target: Annex
  let installed: Awaited<ReturnType<typeof installSample>>
  let site: string
  let receiver: Awaited<ReturnType<typeof startReceiver>>
  before(async () => {
    receiver = await startReceiver(200)
    const flags = { SANDBOX_CALLS: '1000', DELIVERY_RETRY_SECONDS: '3600' }
    source = await startAnnex({ plugins, flags })
    target = await startAnnex({ plugins, flags })
    installed = await installSample(source, 'mover')
    const sites = `/v1/orgs/${source.server.samples.organization}/sites`
    site = (await source.api('POST', sites, { slug: 'docs', title: 'Docs' })).json.id
    const inSite = `${installed.path}/sites`
    await source.api('POST', inSite, { site })
    await until(
      () => source.api('GET', `${inSite}/${site}`),
      ({ json }) => json.status === 'active',
    )
  })
  after(async () => {
    await source?.close()
    await target?.close()
    await receiver?.close()
  })

  /** @returns whether each of them was taken */
  const owe = async (what: { deliveries?: Json[]; tasks?: Json[]; patch?: string }): Promise<boolean[]> => {
    const answer = await fetch(installed.endpoint, { method: 'POST', body: JSON.stringify(what) })
    const text = await answer.text()
    assert.equal(answer.status, 200, text)
    return JSON.parse(text)
  }
  /** @returns the records of its export, which are the same when it is exported where it was imported */
  const move = async (): Promise<Json[]> => {
    const text = await exportText(source, installed.id)
    await source.api('POST', `${installed.path}/resume`)
    const imported = await importText(target, text, '?replace=true')
    assert.equal(imported.status, 'moving', imported.message)
    assert.deepEqual(
      await toComparable(await exportText(target, installed.id)),
      await toComparable(text),
      'it is there as it was here',
    )
    return toRecords(text)
  }

  it('texts that not every database reads as JSON', async () => {
    const tasks = texts.map((text) => ({ text, [text]: [text] }))
    assert.deepEqual(
      await owe({ tasks }),
      texts.map(() => true),
    )
    const { organization } = source.server.samples
    const published = texts.map((userAgent, n) => ({
      ...{ type: 'site_view', eventId: `evt_${n}`, siteId: site, url: 'https://docs.example/' },
      visitor: { anonymousId: 'v', userAgent, ip: '203.0.113.7', cookies: {} },
    }))
    for (const event of published) {
      const { status, text } = await source.api('POST', `/v1/events?organization=${organization}`, event)
      assert.equal(status, 202, text)
    }
    const records = await move()
    const queued = records.filter(({ kind }) => kind === 'task').map(({ subject }) => subject.event.task)
    assert.deepEqual(queued, tasks)
    const events = records.filter(({ record }) => record === 'event').map(({ payload }) => payload)
    assert.deepEqual(events, published)
  })
  it('URLs in any spelling, and types and tasks of any text', inTorture, async () => {
    const address = new URL(receiver.url).host
    const spelled = fc
      .record({
        scheme: fc.constantFrom('http', 'HTTP', 'hTtPs', ' http', '\thttp', 'ht\ntp', 'ftp'),
        slashes: fc.constantFrom('://', ':/', ':', ':\\\\', ':///'),
        rest: fc.string({ unit: 'binary', maxLength: 20 }),
      })
      .map(({ scheme, slashes, rest }) => `${scheme}${slashes}${address}/${rest}`)
    const deliveries = fc.sample(
      fc.record({
        url: spelled,
        event: fc.record({ type: fc.string({ unit: 'binary', maxLength: 110 }) }),
      }),
      { numRuns: 150, seed: 7 },
    )
    const tasks = fc.sample(fc.object({ maxDepth: 5, key: fc.string({ unit: 'binary' }) }), {
      ...{ numRuns: 100, seed: 7 },
    })
    const least = [
      { url: `HTTP://${address}/`, event: { type: '' } },
      { url: `http:/${address}/`, event: { type: 'ping' } },
    ]
    const taken = await owe({ deliveries: [...least, ...deliveries], tasks })
    const count = taken.filter(Boolean).length
    assert.deepEqual(taken.slice(0, 2), [true, true])
    assert.ok(count > 200 && count < taken.length, `${count} of ${taken.length}`)
    const records = await move()
    const owed = records.filter(({ record, kind }) => record === 'delivery' || kind === 'task')
    assert.equal(owed.length - texts.length, count)
  })

  it('tasks and settings that are nested as deep as they may be', inTorture, async () => {
    const tasks = [1, 10, 61, 62, 63, 64, 65, 66, 1_000, 10_000].map(nested)
    const taken = await owe({ tasks, patch: JSON.stringify({ configuration: nested(63) }) })
    assert.deepEqual(
      taken.map((isTaken) => Number(isTaken)),
      [1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0],
    )
    // Its setup event has the settings before the edit.
    const edited = await source.api('PATCH', installed.path, { configuration: {} })
    assert.equal(edited.status, 200, edited.text)
    const records = await move()
    const deep = records.filter(({ subject }) => subject?.event?.previous)
    assert.deepEqual(
      deep.map(({ subject }) => subject.event.previous.configuration),
      [nested(63)],
    )
  })

  it('answers of as many headers as a receiver can have kept', inTorture, async () => {
    const chatty = await startReceiver((response) => {
      response.socket?.end(`HTTP/1.1 200 OK\r\n${'a:\r\n'.repeat(4_000)}\r\n`)
    })
    try {
      assert.deepEqual(await owe({ deliveries: [{ url: chatty.url, event: { type: 'ping' } }] }), [true])
      await chatty.waitFor(1)
      const records = await move()
      const most = records.flatMap(({ attemptList = [] }) => attemptList.map(headersOf))
      assert.equal(Math.max(...most), 4_000)
    } finally {
      await chatty.close()
    }
  })

  it('settings that are longer as they are kept than as they came', inTorture, async () => {
    const many = Array(200_000).fill('1e20').join()
    assert.deepEqual(await owe({ patch: `{"configuration":{"many":[${many}]}}` }), [true])
    await move()
  })
})

it('a reason and a title that only one of the databases keeps go to the other', async () => {
  await using ends = new AsyncDisposableStack()
  const receiver = await startReceiver(200)
  ends.defer(receiver.close)
  const source = await startAnnex({ plugins, flags: { DATABASE_URL: '' } })
  ends.defer(source.close)
  const target = await startAnnex({ plugins })
  ends.defer(target.close)
  const { id, path, endpoint } = await installSample(source, 'mover')
  const sites = `/v1/orgs/${source.server.samples.organization}/sites`
  const site = (await source.api('POST', sites, { slug: 'docs', title: 'Do\0cs' })).json.id
  assert.equal((await source.api('POST', `${path}/sites`, { site })).status, 201)
  const owed = { deliveries: [{ url: receiver.url, event: { type: 'ping' } }] }
  await fetch(endpoint, { method: 'POST', body: JSON.stringify(owed) })
  await receiver.waitFor(1)
  const [{ id: endpointId }] = (await source.api('GET', `/v1/endpoints?installation=${id}`)).json.items
  const paused = await source.api('POST', `/v1/endpoints/${endpointId}/pause`, { reason: 'not\0now' })
  assert.equal(paused.status, 200, paused.text)
  const imported = await importText(target, await exportText(source, id))
  assert.equal(imported.status, 'moving', imported.message)
  const there = await target.api('GET', `/v1/endpoints/${endpointId}`)
  assert.equal(there.json.reason, 'not\ufffdnow')
})

const headersOf = ({ responseHeaders }: Json): number => responseHeaders?.length ?? 0

const texts = ['\0', '\ud800', '\udc00\ud800', '\\u0000', '\\\0', '"\\', 'a\u2028\u{1f600}']

/** An object of that many levels. */
function nested(levels: number): Json {
  let value: Json = {}
  for (let level = 1; level < levels; level++) value = { value }
  return value
}
