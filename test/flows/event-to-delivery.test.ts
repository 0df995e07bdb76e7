// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import Stripe from 'stripe'
import { type Annex, installSample, type Json, startAnnex, until } from '../support/annex.ts'
import { installIn } from '../support/installing.ts'
import { type Answer, startReceiver } from '../support/receiver.ts'

const plugins = fileURLToPath(new URL('../../plugins', import.meta.url))

/** A second implementation of the signature's scheme, by people who have never seen ours. */
const independent = new Stripe('sk_test_nobody')

const visit = {
  type: 'site_view',
  visitor: { anonymousId: 'v1', userAgent: 'test', ip: '203.0.113.7', cookies: {} },
  url: 'https://docs.example/start',
  referrer: 'https://search.example/',
}

type Place = { organization: string; site: string }
let names = 0

type Case = {
  name: string
  answers: Answer[]
  attempts: number
  state: 'delivered' | 'failed'
  outcomes: (string | number)[]
}

const cases: Case[] = [
  { name: 'a 200 at once', answers: [200], attempts: 1, state: 'delivered', outcomes: [200] },
  {
    name: '503, 429, then 200',
    answers: [503, 429, 200],
    attempts: 3,
    state: 'delivered',
    outcomes: [503, 429, 200],
  },
  { name: 'a 400, which is final', answers: [400], attempts: 1, state: 'failed', outcomes: [400] },
  {
    name: 'a receiver that never answers',
    answers: [() => {}],
    attempts: 4,
    state: 'failed',
    outcomes: ['egress_timeout', 'egress_timeout', 'egress_timeout', 'egress_timeout'],
  },
]

describe('an event becomes a signed delivery', { concurrency: 6 }, () => {
  let annex: Annex
  before(async () => {
    annex = await startAnnex({ pluginsDir: plugins, flags: { DELIVERY_TIMEOUT_MS: '2000' } })
  })
  after(() => annex.close())

  for (const { name, answers, attempts, state, outcomes } of cases) {
    it(`with ${name}`, async () => {
      const receiver = await startReceiver(...answers)
      try {
        const { place, secret } = await installWebhook(annex, receiver.url)
        const published = await publish(annex, {}, place)
        assert.equal(published.status, 202)
        assert.deepEqual(published.json, {
          eventId: published.json.eventId,
          duplicate: false,
          installations: 1,
        })
        const delivery = await settled(annex, published.json.eventId)
        assert.equal(delivery.state, state)
        assert.equal(delivery.attempts, attempts)
        assert.deepEqual(delivery.attemptList.map(outcomeOf), outcomes)
        assertDelays(delivery)
        for (const { body, headers } of receiver.received) {
          assert.equal(body, delivery.body, 'the same bytes in each attempt')
          const signature = String(headers['x-service-signature'])
          const event: Json = independent.webhooks.constructEvent(body, signature, secret)
          assert.equal(event.eventId, published.json.eventId)
          assert.equal(event.siteId, place.site)
          assert.throws(() => independent.webhooks.constructEvent(`${body} `, signature, secret))
        }
      } finally {
        await receiver.close()
      }
    })
  }

  it('with a receiver that refuses connections at first', async () => {
    const gone = await startReceiver(200)
    await gone.close()
    const back = createServer((_request, response) => response.end())
    try {
      const { place } = await installWebhook(annex, gone.url)
      const { eventId } = (await publish(annex, {}, place)).json
      const first = () => annex.api('GET', `/v1/deliveries?event=${eventId}`)
      await until(first, ({ json }) => json.items[0]?.attempts === 1)
      await new Promise<void>((resolve) => back.listen(Number(new URL(gone.url).port), '127.0.0.1', resolve))
      const delivery = await settled(annex, eventId)
      assert.equal(delivery.state, 'delivered')
      // On a slow machine the first retry comes before the receiver.
      const [last, ...refused] = delivery.attemptList.map(outcomeOf).reverse()
      assert.equal(last, 200)
      assert.deepEqual([...new Set(refused)], ['egress_failed'])
    } finally {
      back.close()
    }
  })

  it('with a receiver that refuses all connections', async () => {
    const gone = await startReceiver(200)
    await gone.close()
    const { place } = await installWebhook(annex, gone.url)
    const delivery = await settled(annex, (await publish(annex, {}, place)).json.eventId)
    assert.equal(delivery.state, 'failed')
    assert.deepEqual(delivery.attemptList.map(outcomeOf), Array(4).fill('egress_failed'))
    assert.match(delivery.reason, /^exhausted: .*ECONNREFUSED/)
  })
})

describe('page_feedback', () => {
  const script = `import { createIntegration } from '@annex/runtime'
export default createIntegration({ events: { page_feedback: (event) => console.log(event.feedback.rating) } })`
  const scopes = { 'site:views:read': 1, 'page:feedback:read': 1, 'site:metadata:read': 0 }
  const nameOf = (scope: string) => `reads-${scope.replaceAll(':', '-')}`
  let annex: Annex
  before(async () => {
    const plugins = Object.keys(scopes).map((scope) => [nameOf(scope), { script, scopes: [scope] }])
    annex = await startAnnex({ plugins: Object.fromEntries(plugins) })
  })
  after(() => annex.close())

  for (const [scope, isTheirs] of Object.entries(scopes)) {
    it(`${isTheirs ? 'reaches' : 'does not reach'} an integration that declares ${scope}`, async () => {
      const { path } = await installSample(annex, nameOf(scope), 'site', {})
      const { site, space } = annex.server.samples
      const feedback = { rating: 'good', comment: 'Fine.' }
      const more = { type: 'page_feedback', spaceId: space, pageId: 'page', feedback }
      const published = await publish(annex, { ...more, siteId: site })
      assert.equal(published.json.installations, isTheirs, published.text)
      if (isTheirs === 1)
        await until(
          () => annex.api('GET', `/v1/logs?integration=${nameOf(scope)}`),
          ({ json }) => json.items.some(({ text }: Json) => text === 'good'),
        )
      assert.equal((await annex.api('DELETE', path)).status, 204)
    })
  }
})

describe('publishing an event', () => {
  let annex: Annex
  before(async () => {
    annex = await startAnnex({ pluginsDir: plugins })
  })
  after(() => annex.close())

  it('twice with one eventId stores it once, and reports the duplicate', async () => {
    const eventId = 'evt_of_the_publisher'
    assert.deepEqual((await publish(annex, { eventId })).json, {
      eventId,
      duplicate: false,
      installations: 0,
    })
    const again = await publish(annex, { eventId })
    assert.equal(again.status, 200)
    assert.deepEqual(again.json, { eventId, duplicate: true, installations: 0 })
  })

  it('is refused with the names of all wrong fields', async () => {
    const refused = await publish(annex, { url: 7, visitor: undefined, extra: true })
    assert.equal(refused.status, 422)
    assert.equal(refused.json.error.code, 'event_invalid')
    const paths = refused.json.error.details.map(({ path }: { path: string }) => path)
    for (const path of ['/url', '/visitor', '/extra']) assert.ok(paths.includes(path), `${path} in ${paths}`)
  })

  it('of another organization’s site is answered with 404', async () => {
    const org = (await annex.api('POST', '/v1/orgs', { subdomain: 'acme', title: 'Acme' })).json
    const { token } = (await annex.api('POST', `/v1/orgs/${org.id}/tokens`, {})).json
    const refused = await annex.api(
      'POST',
      '/v1/events',
      { ...visit, siteId: annex.server.samples.site },
      token,
    )
    assert.equal(refused.status, 404)
    assert.match(refused.json.error.message, /^The event was not stored/)
  })
})

/** A new organization with a site in which the plugin `webhook` sends to `url`. */
async function installWebhook(annex: Annex, url: string): Promise<{ place: Place; secret: string }> {
  names += 1
  const { json } = await annex.api('POST', '/v1/orgs', { subdomain: `sends-${names}`, title: 'Sends' })
  const site = (await annex.api('POST', `/v1/orgs/${json.id}/sites`, { slug: 'docs', title: 'Docs' })).json.id
  const { path } = await installIn(annex, 'webhook', json.id)
  const target = await annex.api('POST', `${path}/sites`, { site })
  assert.equal(target.status, 201, target.text)
  const configuration = { webhook_url: url, site_view: true, page_feedback: false }
  const configured = await annex.api('PATCH', `${path}/sites/${site}`, { configuration })
  assert.equal(configured.status, 200, configured.text)
  return { place: { organization: json.id, site }, secret: target.json.signingSecret }
}

function publish(annex: Annex, more: object = {}, { organization, site }: Place = annex.server.samples) {
  return annex.api('POST', `/v1/events?organization=${organization}`, { ...visit, siteId: site, ...more })
}

async function settled(annex: Annex, eventId: string): Promise<Json> {
  const { json } = await until(
    () => annex.api('GET', `/v1/deliveries?event=${eventId}`),
    ({ json }) => json.count === 1 && json.items[0].state !== 'pending',
  )
  return (await annex.api('GET', `/v1/deliveries/${json.items[0].id}`)).json
}

const outcomeOf = (attempt: Json): string | number => attempt.response?.status ?? attempt.error.code

/** Spec 8: 1, 2 and 4 s plus 0 to 10 % between the end of an attempt and the next; late is this machine's doing. */
function assertDelays({ attemptList }: Json): void {
  const delays = [1000, 2000, 4000]
  for (const [index, attempt] of attemptList.slice(1).entries()) {
    const before = attemptList[index]
    const waited = Date.parse(attempt.startedAt) - Date.parse(before.startedAt) - before.durationMs
    const delay = delays[index] ?? 0
    assert.ok(
      waited >= delay - 2,
      `attempt ${index + 2} came ${waited} ms after the last one, before ${delay} ms`,
    )
    assert.ok(waited < delay * 1.1 + 5_000, `attempt ${index + 2} came only after ${waited} ms`)
  }
}
