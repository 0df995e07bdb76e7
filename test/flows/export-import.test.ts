import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Annex, type Json, startAnnex, until } from '../support/annex.ts'
import { exportText, importText, toComparable, toRecords } from '../support/moving.ts'
import { readingReceivers } from '../support/reading-receivers.ts'
import { type Answer, startReceiver } from '../support/receiver.ts'
import { createTestDatabase, noPostgres } from '../support/test-database.ts'

/** Owes what it is told to owe. The task that says so fails. */
const script = `
import { createIntegration } from '@annex/runtime'
const owe = (integration, url, type) => integration.queueDelivery({ url, event: { type } })
export default createIntegration({
  fetch: async (request, { integration }) => {
    const { url, count = 0, task, schedule = 0 } = await request.json()
    for (let n = 0; n < count; n++) await owe(integration, url, 'ping')
    if (task) await integration.queueTask({ task, schedule })
    return new Response('owed')
  },
  task: async (task, { integration }) => {
    if (task.fails) throw new Error('as it was told')
    await owe(integration, task.url, 'from_task')
  },
  events: { site_view: (event, { integration, environment }) => {
    const { url } = environment.installation.configuration
    return integration.queueDelivery({ url, event: { type: 'seen', of: event.eventId } })
  } },
})`
const more = `configurations:
  account:
    properties:
      url: { type: string, title: Where to }`

const visit = {
  type: 'site_view',
  visitor: { anonymousId: 'v', userAgent: 'test', ip: '203.0.113.7', cookies: {} },
  url: 'https://docs.example/',
  referrer: 'https://docs.example/',
}
const takesAny = readingReceivers['takes any part']

const start = (url: string) =>
  startAnnex({
    plugins: { mover: { script, more, scopes: ['site:views:read'] } },
    flags: { DATABASE_URL: url, DELIVERY_RETRY_SECONDS: '1', DELIVERY_PER_ENDPOINT: '2' },
  })

/** An installation with a site of its own, both with a secret that is being rotated. */
async function install(annex: Annex, url: string) {
  const organization = annex.server.samples.organization
  const site = (await annex.api('POST', `/v1/orgs/${organization}/sites`, { slug: 'docs', title: 'Docs' }))
    .json
  const base = '/v1/integrations/mover/installations'
  const { id, signingSecret, urls } = (await annex.api('POST', base, { organization })).json
  const path = `${base}/${id}`
  const inSite = (await annex.api('POST', `${path}/sites`, { site: site.id })).json
  const isActive = ({ json }: Json) => json.status === 'active'
  await annex.api('PATCH', path, { configuration: { url } })
  await until(() => annex.api('GET', `${path}/sites/${site.id}`), isActive)
  await until(() => annex.api('GET', path), isActive)
  await annex.api('POST', `${path}/signing-secret`, {})
  await annex.api('POST', `${path}/sites/${site.id}/signing-secret`, {})
  const ask = async (body: object) => {
    const answer = await fetch(urls.publicEndpoint, { method: 'POST', body: JSON.stringify(body) })
    assert.equal(await answer.text(), 'owed')
  }
  const secrets = { installation: signingSecret, site: inSite.signingSecret }
  return { id, path, site: site.id, organization, secrets, ask }
}

const countIn = (records: Json[], record: string, has: object = {}): number =>
  records.filter((one) => Object.entries({ record, ...has }).every(([name, value]) => one[name] === value))
    .length

describe(`an installation moves from SQLite to ${noPostgres ? 'SQLite' : 'PostgreSQL'} and back`, () => {
  it('with its history, its secrets and all that it owes, and nothing is delivered twice', async () => {
    const slowly: Answer = (response) => void setTimeout(() => response.writeHead(200).end(), 500)
    const slow = await startReceiver(slowly)
    const busy = await startReceiver(
      (response) => response.writeHead(503, { 'retry-after': '12' }).end(),
      200,
    )
    const gone = await startReceiver(410)
    const database = await createTestDatabase()
    await using ends = new AsyncDisposableStack()
    for (const { close } of [slow, busy, gone]) ends.defer(close)
    ends.defer(database.drop)
    const begin = async (url: string) => {
      const annex = await start(url)
      ends.defer(annex.close)
      return annex
    }
    const [source, middle, last] = [await begin(''), await begin(database.url), await begin('')]
    const { id, path, site, organization, secrets, ask } = await install(source, slow.url)

    await ask({ task: { fails: true } })
    await ask({ url: gone.url, count: 1 })
    await ask({ url: busy.url, count: 1 })
    await busy.waitFor(1)
    await ask({ task: { url: busy.url }, schedule: 12 })
    const event = { ...visit, siteId: site, eventId: 'evt_moved' }
    await source.api('POST', `/v1/events?organization=${organization}`, event)
    await until(
      () => source.api('GET', `/v1/logs?installation=${id}`),
      ({ json }) => json.items.filter(({ text }: Json) => text.includes('as it was told')).length === 2,
    )
    await ask({ url: slow.url, count: 30 })
    await slow.waitFor(3)

    const first = await exportText(source, id)
    const records = toRecords(first)
    assert.ok(countIn(records, 'delivery', { state: 'owed', attempts: 0 }) > 5, 'owed, and never tried')
    assert.equal(countIn(records, 'delivery', { state: 'owed', attempts: 1 }), 1, 'to be tried again')
    assert.equal(countIn(records, 'delivery', { state: 'failed' }), 1)
    assert.ok(countIn(records, 'delivery', { state: 'delivered' }) >= 3)
    assert.equal(countIn(records, 'endpoint', { state: 'disabled' }), 1)
    assert.equal(countIn(records, 'job', { kind: 'task', state: 'owed' }), 1)
    assert.equal(countIn(records, 'job', { kind: 'task', state: 'failed' }), 1)
    const given = records.find(({ record, state }) => record === 'job' && state === 'failed')
    const run = await source.api('POST', `/v1/jobs/${given.id}/run`)
    assert.deepEqual(
      [run.status, run.json.error?.code],
      [409, 'conflict'],
      'it would be missing where it goes on',
    )
    assert.equal(countIn(records, 'event', { id: 'evt_moved' }), 1)
    for (const secret of Object.values(secrets)) assert.ok(!first.includes(secret), 'a secret in the clear')
    assert.ok(!first.includes('"configuration"'), 'settings in the clear')

    const sentByThen = slow.received.length
    const status = (await source.api('GET', path)).json
    assert.equal(status.status, 'moving')
    assert.match(status.statusReason, /^Exported at .* Resume it here only if/)

    const there = await importText(middle, first)
    assert.equal(there.status, 'moving', there.message)
    assert.deepEqual(there.warnings, [`The site docs (${site}) was not here, and was made.`])
    const second = await exportText(middle, id)
    assert.deepEqual(await toComparable(second), await toComparable(first))

    assert.equal((await importText(last, second)).status, 'moving')
    assert.deepEqual(await toComparable(await exportText(last, id)), await toComparable(first))

    // And to where it came from, in the place of what was left there.
    assert.equal((await importText(source, second)).code, 'conflict')
    assert.equal((await importText(source, second, '?replace=true')).status, 'moving')
    assert.deepEqual(await toComparable(await exportText(source, id)), await toComparable(first))

    const [endpoint] = (await last.api('GET', `/v1/endpoints?installation=${id}`)).json.items
    await last.api('POST', `/v1/endpoints/${endpoint.id}/pause`)
    await last.api('POST', `/v1/endpoints/${endpoint.id}/resume`)
    assert.equal(slow.received.length, sentByThen, 'nothing is sent while it moves')
    const resumed = await last.api('POST', `${path}/resume`)
    assert.equal(resumed.json.status, 'active')
    await until(
      () => last.api('GET', `/v1/deliveries?installation=${id}&state=owed`),
      ({ json }) => json.count === 0,
      30,
    )
    await busy.waitFor(3)
    const ids = slow.received.map(({ headers }) => headers['x-service-delivery-id'])
    assert.equal(new Set(ids).size, 31)
    assert.equal(ids.length, 31, 'each once')
    const signers = [...slow.received, ...busy.received].map(({ headers, body }) => {
      const signature = String(headers['x-service-signature'])
      return Object.values(secrets).filter((secret) => takesAny(signature, body, secret)).length
    })
    assert.ok(
      signers.every((count) => count === 1),
      'the old secret of its level signs on',
    )
    const types = busy.received.map(({ body }) => JSON.parse(body).type)
    assert.deepEqual(types.toSorted(), ['from_task', 'ping', 'ping'])
    const repeated = await last.api(
      'POST',
      `/v1/events?organization=${resumed.json.target.organization}`,
      event,
    )
    assert.equal(repeated.json.duplicate, true, 'an event that is published again is known')
  })
})
