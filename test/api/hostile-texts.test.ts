import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Annex, installSample, startAnnex } from '../support/annex.ts'

/** Queues the posted deliveries, and answers with the result of each. */
const queue = `import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: async (request, { integration }) => {
    const said = []
    for (const given of await request.json()) {
      said.push(await integration.queueDelivery(given).then(({ id }) => id, (error) => error.message))
    }
    return Response.json(said)
  },
})`

describe('a text with U+0000 or a lone surrogate', () => {
  let annex: Annex
  before(async () => {
    annex = await startAnnex({ plugins: { queue: { script: queue } } })
  })
  after(() => annex.close())

  const paths = [
    '/v1/deliveries/%00',
    '/v1/deliveries?event=%00',
    '/v1/deliveries?eventType=%00',
    '/v1/deliveries?installation=%00',
    '/v1/deliveries?endpoint=%00',
    '/v1/deliveries?before=%00',
    '/v1/deliveries/feed?endpoint=%00',
    '/v1/receivers/%00',
    '/v1/receivers?page=%00',
    '/v1/jobs/%00',
    '/v1/integrations/paged/assets/%00',
    '/v1/jobs?page=%00',
    '/v1/jobs?installation=%00',
    '/v1/logs?request=%00',
    '/v1/logs?integration=%00',
    '/v1/receipts?request=%00',
    '/v1/usage?integration=%00',
    '/v1/integrations/%00',
    '/v1/integrations/queue/installations/%00',
    '/v1/orgs/%00',
    '/v1/spaces/%00',
    '/v1/integrations/queue/installations?externalId=%00',
    '/x/queue/inst_%00',
    '/x/%00',
  ]
  it('causes no 500 in any query or path', async () => {
    for (const path of paths) {
      const { status, text } = await annex.api('GET', path)
      assert.ok(status < 500, `${path}: ${status} ${text}`)
    }
  })

  it('causes no 500 in a body', async () => {
    const told = [
      await annex.api('POST', '/v1/orgs', { subdomain: 'told', title: 'a\0' }),
      await annex.api('POST', '/v1/orgs/home/tokens', { label: 'a\0' }),
      await annex.api('POST', '/v1/receivers/rcv_a/pause', { reason: 'a\0' }),
      await annex.api('POST', '/v1/deliveries/send-failed', { since: '2026-01-01', endpoint: 'a\0' }),
    ]
    for (const { status, text } of told) assert.ok(status < 500, `${status} ${text}`)
  })

  it('is refused with its path in a title, a name and a label', async () => {
    for (const wrong of ['a\0', '\ud800', 'two\nlines']) {
      const told: [pointer: string, method: string, path: string, body: object][] = [
        ['/title', 'POST', '/v1/orgs', { subdomain: 'told-2', title: wrong }],
        ['/title', 'PATCH', '/v1/spaces/sample', { title: wrong }],
        ['/title', 'POST', '/v1/orgs/home/sites', { slug: 'told', title: wrong }],
        ['/name', 'POST', '/v1/orgs/home/members', { email: 'a@example.com', name: wrong, role: 'reader' }],
        ['/label', 'POST', '/v1/orgs/home/tokens', { label: wrong }],
      ]
      for (const [pointer, method, path, body] of told) {
        const { status, json, text } = await annex.api(method, path, body)
        assert.equal(status, 422, text)
        assert.deepEqual(
          json.error.details.map((one: { path: string }) => one.path),
          [pointer],
        )
      }
    }
  })

  it('is refused as the site or space of an event', async () => {
    for (const siteId of ['a\0', '\ud800', 'a b', '']) {
      const event = { type: 'site_view', siteId, url: 'https://a.example/', visitor: {} }
      const { status, json } = await annex.api('POST', '/v1/events?organization=home', event)
      assert.equal(status, 422)
      const detail = json.error.details.find(({ path }: { path: string }) => path === '/siteId')
      assert.equal(detail.message, 'is 1 to 200 printable ASCII characters, without spaces')
    }
  })

  it('is refused in the URL and type of a delivery, and kept in its event', async () => {
    const { endpoint } = await installSample(annex, 'queue')
    const url = 'http://127.0.0.1:9/'
    const given = [
      { url: `${url}\0`, event: { type: 'a' } },
      { url: `${url}\ud800`, event: { type: 'a' } },
      { url, event: { type: 'a\0' } },
      { url, event: { type: '\udfff' } },
      { url, event: { type: 'a', text: '\0\ud800' } },
    ]
    const answer = await fetch(endpoint, { method: 'POST', body: JSON.stringify(given) })
    const said = (await answer.json()) as string[]
    for (const [n, name] of ['url', 'url', 'type', 'type'].entries()) {
      assert.match(said[n] ?? '', new RegExp(`^The ${name} of a delivery holds U\\+0000, or half`))
    }
    assert.match(said[4] ?? '', /^dlv_/)
    const { json } = await annex.api('GET', `/v1/deliveries/${said[4]}`)
    assert.deepEqual(JSON.parse(json.body), given[4]?.event)
  })

  it('is refused with 400, and so are repeated filters and malformed cursors', async () => {
    for (const query of [
      'deliveries?state=failed&state=failed',
      'jobs?kind=task&kind=event',
      'logs?request=a&request=b',
    ]) {
      const { status, json } = await annex.api('GET', `/v1/${query}`)
      assert.equal(status, 400, query)
      assert.match(json.error.message, /is given more than once/)
    }
    for (const query of [
      'logs?after=1.5',
      'logs?after=-1e400',
      'receipts?after=1e30',
      'receipts?after=99999999999999999999',
    ]) {
      const { status, json } = await annex.api('GET', `/v1/${query}`)
      assert.equal(status, 400, query)
      assert.match(json.error.message, /after must be/)
    }
  })
})
