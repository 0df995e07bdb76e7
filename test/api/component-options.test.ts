import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Annex, type Answered, installSample, type Json, startAnnex } from '../support/annex.ts'
import { startReceiver } from '../support/receiver.ts'

const script = `
import { createIntegration } from '@annex/runtime'
const all = [{ id: 'eu', label: 'Europe', icon: 'check' }, { id: 7, label: 'Asia' }]
export default createIntegration({
  fetch: (request) => {
    const url = new URL(request.url)
    if (url.pathname.endsWith('/echo')) {
      return Response.json([{ id: 'url', label: request.method + ' ' + url.pathname + url.search }, { id: 'cookie', label: String(request.headers.get('cookie')) }])
    }
    if (url.pathname.endsWith('/broken')) return new Response('<p>Sign in</p>')
    if (url.pathname.endsWith('/paged')) return Response.json({ options: all.slice(0, 1), next: '2' })
    return Response.json(all)
  },
})`

describe('the choices of a select in a component', () => {
  let annex: Annex
  let path: string
  let inSite: string
  let endpoint: string
  let site: string
  let other: { path: string; id: string }
  before(async () => {
    annex = await startAnnex({ plugins: { chooser: { script }, stranger: { script } } })
    site = annex.server.samples.site ?? ''
    const { id } = await installSample(annex, 'chooser', 'site')
    path = `/v1/integrations/chooser/installations/${id}`
    inSite = `${path}/sites/${site}`
    endpoint = `${annex.url}/x/chooser/${id}`
    other = await installSample(annex, 'stranger')
  })
  after(() => annex.close())

  const ask = (source: unknown, more: object = {}, of = inSite, token?: string): Promise<Answered> =>
    annex.api('POST', `${of}/component-options`, { source, ...more }, token)

  it('come from the script of the level, at a path or an address', async () => {
    const found = [
      { label: 'Europe', value: 'eu' },
      { label: 'Asia', value: '7' },
    ]
    for (const source of [
      '/all',
      `${endpoint}/sites/${site}/all`,
      `${endpoint}/all`,
      new URL(`${endpoint}/all`).pathname,
    ]) {
      const { status, json } = await ask(source)
      assert.deepEqual([status, json.options], [200, found], source)
    }
    assert.deepEqual((await ask('/all', { q: 'asi' })).json.options, [{ label: 'Asia', value: '7' }])
    assert.equal((await ask('/paged')).json.next, '2')
    assert.equal((await ask('/all', {}, path)).status, 200)
  })

  it('are asked for by the host, without a cookie', async () => {
    const { json } = await ask('/echo?team=docs', { page: '2' })
    const [url, cookie] = json.options.map(({ label }: Json) => label)
    assert.match(url, /^GET \/x\/chooser\/inst_[^/]+\/sites\/site_[^/]+\/echo\?team=docs&page=2$/)
    assert.equal(cookie, 'null')
  })

  it('that are not in form are an error of the script', async () => {
    const { status, json } = await ask('/broken')
    assert.deepEqual([status, json.error.code], [502, 'options_failed'])
  })

  it('are asked for at no other address', async () => {
    const receiver = await startReceiver()
    try {
      const { host } = new URL(annex.url)
      const own = new URL(endpoint).pathname
      const addresses = [
        receiver.url,
        'http://169.254.169.254/latest/meta-data',
        'https://evil.example/all',
        `http://${host}@evil.example${own}/all`,
        `//evil.example${own}/all`,
        `\\\\evil.example\\all`,
        `${annex.url}/v1/me`,
        `${annex.url}/x/stranger/${other.id}/all`,
        `${annex.url}/x/stranger/all`,
        `${annex.url}/x/chooser/all`,
        `${endpoint}/sites/site_0190a1b2-0000-7000-8000-000000000000/all`,
        `${endpoint}/../../stranger/${other.id}/all`,
        `${endpoint}/%2e%2e/${other.id}/all`,
        `/../../../stranger/${other.id}/all`,
        `/..%2f..%2fstranger`,
        'javascript:alert(1)',
        'data:application/json,[]',
        'file:///etc/passwd',
        'all',
        ' ',
      ]
      for (const source of addresses) {
        const { status, json } = await ask(source)
        assert.deepEqual([status, json.error?.code], [422, 'body_invalid'], source)
      }
      // The account does not ask in the name of a site.
      assert.equal((await ask(`${endpoint}/sites/${site}/all`, {}, path)).status, 422)
      assert.equal(receiver.received.length, 0)
    } finally {
      await receiver.close()
    }
  })

  it('are closed to other organizations and to readers', async () => {
    const { json } = await annex.api('POST', '/v1/orgs', { subdomain: 'other', title: 'Other' })
    const { token } = (await annex.api('POST', `/v1/orgs/${json.id}/tokens`, { label: 'o' })).json
    assert.equal((await ask('/all', {}, inSite, token)).status, 404)
    assert.equal((await ask('/all', {}, inSite, '')).status, 401)
  })
})

describe('Markdown of a component', () => {
  let annex: Annex
  before(async () => {
    annex = await startAnnex()
  })
  after(() => annex.close())

  const draw = (text: unknown, token?: string) => annex.api('POST', '/v1/markdown', { text }, token)

  it('becomes a tree without HTML', async () => {
    const { status, json } = await draw(
      'Hello **you**\n\n<script>alert(1)</script>\n\n[x](javascript:alert(1))',
    )
    assert.equal(status, 200)
    assert.deepEqual(json.tree[0], { tag: 'p', children: ['Hello ', { tag: 'strong', children: ['you'] }] })
    const tags = JSON.stringify(json.tree).match(/"tag":"\w+"/g)
    assert.deepEqual([...new Set(tags)], ['"tag":"p"', '"tag":"strong"'])
    assert.deepEqual((await draw('')).json.tree, [])
  })

  it('has a limit of its length', async () => {
    assert.equal((await draw('['.repeat(16_384))).status, 200)
    for (const text of ['['.repeat(16_385), 7, null]) assert.equal((await draw(text)).status, 422)
    assert.equal((await draw('a', '')).status, 401)
  })
})
