import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Annex, installSample, type Json, startAnnex, until } from '../support/annex.ts'

const door = `
import { createIntegration, ExposableError } from '@annex/runtime'
export default createIntegration({
  fetch_visitor_authentication: async (event, { environment }) => {
    const { siteInstallation, signingSecrets } = environment
    if (event.location === '/page') return new Response('<script>alert(1)</script>', { headers: { 'content-type': 'text/html' } })
    if (event.location === '/throw') throw new Error('no door')
    if (event.location === '/closed') throw new ExposableError('The door is closed', 403)
    if (event.location === '/missing') return new Response('no page', { status: 404 })
    const to = new URL('https://provider.example/' + (event.action ?? 'authorize'))
    to.searchParams.set('site', siteInstallation.site + ' ' + event.siteId)
    to.searchParams.set('location', event.location ?? 'none')
    to.searchParams.set('secret', signingSecrets.siteInstallation.slice(0, 6))
    return new Response(null, { status: 302, headers: { location: to.href, 'set-cookie': 'nonce=1; Path=/; HttpOnly' } })
  },
})`

describe('the sign-in of a site', () => {
  let annex: Annex
  let path: string
  let endpoint: string
  before(async () => {
    const scopes = ['site:visitor:auth']
    annex = await startAnnex({ plugins: { door: { script: door, scopes }, unscoped: { script: door } } })
    const installed = await installSample(annex, 'door', 'site')
    path = installed.path
    endpoint = installed.endpoint
  })
  after(() => annex.close())

  const visit = (query = '', of = path) =>
    fetch(`${annex.url}${of}/visitor-auth${query}`, { redirect: 'manual' })
  const errorOf = async (response: Response): Promise<Json> => ((await response.json()) as Json).error

  it('is where the script sends the visitor', async () => {
    const response = await visit('?location=/guides/start%3Fa%3D1')
    assert.equal(response.status, 302)
    const to = new URL(response.headers.get('location') ?? '')
    const { site } = annex.server.samples
    assert.deepEqual(Object.fromEntries(to.searchParams), {
      site: `${site} ${site}`,
      location: '/guides/start?a=1',
      secret: 'whsec_',
    })
    assert.equal(to.pathname, '/authorize')
    const request = response.headers.get('x-request-id')
    const receipt = await until(
      async () => (await annex.api('GET', `/v1/receipts?request=${request}`)).json.items[0],
      (found) => found !== undefined,
    )
    assert.deepEqual([receipt.type, receipt.outcome], ['fetch_visitor_authentication', 'ok'])
  })

  it('is told of a visitor who signs out', async () => {
    const response = await visit('?action=logout')
    assert.match(response.headers.get('location') ?? '', /^https:\/\/provider\.example\/logout/)
    assert.equal((await visit('?action=other')).status, 400)
  })

  it('keeps its cookies at the endpoint of the site, and its pages out of the origin of Annex', async () => {
    const cookie = (await visit()).headers.get('set-cookie')
    assert.equal(cookie, `nonce=1; HttpOnly; Path=${new URL(endpoint).pathname}`)
    const page = await visit('?location=/page')
    assert.match(page.headers.get('content-security-policy') ?? '', /^sandbox /)
    assert.doesNotMatch(page.headers.get('content-security-policy') ?? '', /allow-same-origin/)
    assert.equal((await visit('?location=/missing')).status, 404)
  })

  it('may be told a location without its first slash', async () => {
    for (const location of ['guides', 'guides/a.html?b=c.d', 'a-b_c~d#e']) {
      const response = await visit(`?location=${encodeURIComponent(location)}`)
      const to = new URL(response.headers.get('location') ?? '')
      assert.equal(to.searchParams.get('location'), location)
    }
  })

  it('is never asked for a location that leads elsewhere', async () => {
    const elsewhere = [
      ...['//evil.example', '/\\evil.example', '\\\\evil.example', 'https://evil.example', '@evil.example'],
      ...[
        '.evil.example',
        ...['evil.example/a', 'a:80/b', 'a%2eexample', 'ä/b', '80@evil.example'],
        'javascript:alert(1)',
        '/\t/evil.example',
        '/a\nb',
        '/ x',
        '',
        '/a\\b',
        `/${'a'.repeat(3000)}`,
      ],
    ]
    for (const location of elsewhere) {
      const response = await visit(`?location=${encodeURIComponent(location)}`)
      assert.deepEqual([response.status, (await errorOf(response)).code], [400, 'bad_request'], location)
    }
  })

  it('shows the errors that the script shows, and logs the others', async () => {
    const closed = await visit('?location=/closed')
    assert.deepEqual([closed.status, (await errorOf(closed)).message], [403, 'The door is closed'])
    const failed = await errorOf(await visit('?location=/throw'))
    assert.equal(failed.code, 'script_failed')
    const { json } = await annex.api('GET', `/v1/logs?request=${failed.requestId}`)
    assert.match(json.items[0].text, /^Error: no door/)
  })

  it('needs the scope', async () => {
    const { path: unscoped } = await installSample(annex, 'unscoped', 'site')
    const error = await errorOf(await visit('', unscoped))
    assert.deepEqual([error.code, error.details[0].message], ['missing_scope', 'site:visitor:auth'])
  })
})
