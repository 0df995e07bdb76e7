import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Annex, installSample, startAnnex, until } from '../support/annex.ts'
import { startReceiver } from '../support/receiver.ts'

const script = `import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: async (request) => {
    if (request.url.endsWith('/kill')) { let n = 2n; for (;;) n = n * n }
    return new Response('alive')
  },
  events: {
    site_view: (event, { integration, environment }) => integration.queueDelivery({
      url: environment.siteInstallation.configuration.url, event,
    }),
  },
})`
const more = `configurations: { site: { properties: { url: { type: string, title: URL, description: Where to. } } } }`
const visitor = { anonymousId: 'v', userAgent: 'test', ip: '203.0.113.7', cookies: {} }

describe('an event for a paused or suspended installation', () => {
  let annex: Annex
  let receiver: Awaited<ReturnType<typeof startReceiver>>
  let installed: Awaited<ReturnType<typeof installSample>>
  before(async () => {
    receiver = await startReceiver(200)
    annex = await startAnnex({
      sandboxes: 'processes',
      plugins: { views: { scopes: ['site:views:read'], script, more } },
      flags: { SANDBOX_SPARE: 'true', SANDBOX_CPU_MS: '100' },
    })
    installed = await installSample(annex, 'views', 'site', { url: receiver.url })
  })
  after(async () => {
    await annex?.close()
    await receiver?.close()
  })

  const path = () => `/v1/integrations/views/installations/${installed.id}`
  const statusOf = async () => (await annex.api('GET', path())).json.status
  const publish = () => {
    const siteId = annex.server.samples.site
    return annex.api('POST', '/v1/events?organization=home', {
      type: 'site_view',
      siteId,
      visitor,
      url: 'http://a.example/',
    })
  }

  /** Each way in which an installation comes to be held. */
  const holds: Record<string, () => Promise<unknown>> = {
    paused: () => annex.api('POST', `${path()}/pause`),
    suspended: () =>
      until(
        async () => {
          await (await fetch(`${installed.endpoint}/kill`)).text()
          return statusOf()
        },
        (status) => status === 'suspended',
      ),
  }

  for (const [status, hold] of Object.entries(holds)) {
    it(`waits for the resume: ${status}`, async () => {
      const before = receiver.received.length
      await hold()
      assert.equal(await statusOf(), status)
      await until(
        () => annex.api('GET', '/metrics'),
        ({ text }) => text.includes(`annex_installations{status="${status}"} 1\n`),
      )
      const published = [await publish(), await publish(), await publish()]
      for (const { status: code, json } of published) {
        assert.equal(code, 202)
        assert.equal(json.installations, 1)
        assert.deepEqual(json.waiting, [installed.id])
      }
      for (const { json } of published) {
        const waiting = await annex.api('GET', `/v1/jobs?state=waiting&event=${json.eventId}`)
        assert.equal(waiting.json.items.length, 1)
      }
      assert.equal(receiver.received.length, before)
      assert.equal((await annex.api('POST', `${path()}/resume`)).status, 200)
      const received = await receiver.waitFor(before + 3)
      const ids = received.slice(before).map(({ body }) => JSON.parse(body).eventId)
      assert.deepEqual(ids.sort(), published.map(({ json }) => json.eventId).sort())
    })
  }

  it('is counted when no installation takes it', async () => {
    const other = await annex.api('POST', '/v1/orgs/home/sites', { slug: 'empty', title: 'Empty' })
    const event = { type: 'site_view', siteId: other.json.id, visitor, url: 'http://a.example/' }
    const published = await annex.api('POST', '/v1/events?organization=home', event)
    assert.equal(published.json.installations, 0)
    assert.equal('waiting' in published.json, false)
    const { text } = await annex.api('GET', '/metrics')
    assert.match(text, /^annex_events_total\{type="site_view",result="no_installation"\} 1$/m)
    assert.match(text, /^annex_events_total\{type="site_view",result="stored"\} 6$/m)
    assert.match(text, /^annex_build_info\{version="\d+\.\d+\.\d+",node="v\d+[.\d]+"\} 1$/m)
    assert.match(text, /^annex_data_free_bytes [1-9]\d+$/m)
  })
})
