import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { text as readText } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { toHomePage } from '../../host/api/home-page.ts'
import { toPage } from '../../host/http/page.ts'
import { type Annex, installSample, type Json, request, startAnnex } from '../support/annex.ts'

const script = `import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: async (request, { environment }) => {
    const { origin } = new URL(request.url)
    const { app } = (environment.installation ?? environment.integration).urls
    if (request.url.endsWith('/app')) return new Response(app)
    if (request.url.endsWith('/home')) return new Response(await (await fetch(origin + '/')).text())
    return new Response('hi')
  },
})`

describe('the page at /', () => {
  let annex: Annex
  before(async () => {
    annex = await startAnnex({
      plugins: { hello: { script }, echo: { script }, webhook: { script, visibility: 'private' } },
    })
    await installSample(annex, 'hello')
  })
  after(() => annex.close())

  /** `fetch` does not let its caller set Host. */
  const get = (headers: Record<string, string>): Promise<string> =>
    new Promise((resolve, reject) => {
      const asked = httpRequest(`${annex.url}/`, { headers: { accept: 'text/html', ...headers } })
      asked
        .on('error', reject)
        .on('response', (response) => resolve(readText(response)))
        .end()
    })

  it('shows a visitor of this machine the integrations, the state, and three next steps', async () => {
    const { status, headers, text } = await request(annex.url, 'GET', '/')
    assert.equal(status, 200)
    assert.equal(headers.get('content-type'), 'text/html; charset=utf-8')
    assert.match(text, /<title>Annex<\/title>/)
    assert.match(text, /Ready/)
    for (const name of ['hello', 'echo', 'webhook']) assert.match(text, new RegExp(`>${name}<`))
    assert.match(text, /1 active/)
    assert.equal(text.split('class="step"').length - 1, 3)
    assert.ok(text.includes(`curl -X POST ${annex.url}/x/echo`))
    assert.match(text, /npx annex events publish site_view --site sample --follow/)
  })

  it('has a policy against scripts, loads and frames', async () => {
    const { headers, text } = await request(annex.url, 'GET', '/')
    const policy = headers.get('content-security-policy') ?? ''
    assert.match(policy, /^default-src 'none'; style-src 'sha256-[\w+/=]{44}'; img-src data:; /)
    assert.match(policy, /base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/)
    assert.equal(headers.get('cache-control'), 'no-store')
    assert.equal(headers.get('x-content-type-options'), 'nosniff')
    assert.equal(headers.get('referrer-policy'), 'no-referrer')
    assert.doesNotMatch(text, /<script|style="| on\w+=/)
  })

  it('shows other visitors the state, and no integrations or organizations', async () => {
    const from: Record<string, string>[] = [
      { 'x-forwarded-for': '203.0.113.7' },
      { origin: 'https://attacker.example' },
      { host: 'rebound.attacker.example' },
    ]
    for (const headers of from) {
      const text = await get(headers)
      assert.match(text, /Ready/)
      assert.equal(text.split('class="step"').length - 1, 3)
      assert.doesNotMatch(text, /hello|webhook|echo|home|inst_|org_|annex_/, JSON.stringify(headers))
    }
    assert.doesNotMatch(await (await fetch(`${annex.url}/x/hello/home`)).text(), /webhook/)
  })

  it('shows an operator everything from anywhere, and an organization only the state', async () => {
    const far = { 'x-forwarded-for': '203.0.113.7' }
    const { json }: Json = await annex.api('POST', '/v1/orgs/home/tokens', {})
    const organization = await get({ ...far, authorization: `Bearer ${json.token}` })
    assert.doesNotMatch(organization, /hello|webhook/)
    const operator = readFileSync(`${annex.dataDir}/cli.token`, 'utf8').trim()
    assert.match(await get({ ...far, authorization: `Bearer ${operator}` }), />webhook</)
    const unknown = await annex.api('GET', '/', undefined, 'annex_op_none')
    assert.deepEqual([unknown.status, unknown.json.error.code], [401, 'unauthorized'])
  })

  it('answers the links of component buttons with the next command', async () => {
    const { items } = (await annex.api('GET', '/v1/integrations/hello/installations')).json
    const { site, space } = annex.server.samples
    const ofScript = [`${annex.url}/x/hello`, items[0].urls.publicEndpoint]
    const ofApi = [`/v1/orgs/home/sites/${site}`, `/v1/spaces/${space}`]
    const urls = await Promise.all([
      ...ofScript.map(async (endpoint) => (await fetch(`${endpoint}/app`)).text()),
      ...ofApi.map(async (path) => (await annex.api('GET', path)).json.urls.app),
    ])
    for (const url of urls) {
      assert.match(url, new RegExp(`^${annex.url}/#/`))
      const response = await fetch(url, { headers: { accept: 'text/html' } })
      assert.equal(response.status, 200)
      const text = await response.text()
      assert.ok(text.includes('Did a button lead here?') && text.includes('npx annex installations'), text)
    }
  })

  it('answers GET and HEAD only', async () => {
    const head = await fetch(annex.url, { method: 'HEAD' })
    assert.deepEqual([head.status, await head.text()], [200, ''])
    const { status, json } = await request(annex.url, 'POST', '/')
    assert.deepEqual([status, json.error.code], [405, 'method_not_allowed'])
  })

  it('escapes all text', () => {
    const wild = `<img src=x onerror=alert(1)>"'&`
    const home = toHomePage({
      problems: [wild],
      steps: [{ title: wild, text: wild, command: wild }],
      detail: {
        url: wild,
        version: wild,
        level: wild,
        processes: 1,
        work: { queued: 1, failed: 2, paused: 3 },
        integrations: [
          { name: wild, organization: wild, number: 1, active: 1, pending: 0, held: 0, suspended: true },
        ],
        more: 3,
      },
    })
    const page = toPage(home)
    assert.ok(!page.includes('<img src=x'), page)
    // Each given text is present in its escaped form only.
    assert.equal(page.split('&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;').length - 1, 9)
    assert.equal(page.split('onerror').length - 1, 9)
  })
})
