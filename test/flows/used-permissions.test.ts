// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Annex, installSample, type Json, startAnnex, until } from '../support/annex.ts'
import { writePlugin } from '../support/plugin-folder.ts'

const script = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: async (request, { environment: { apiEndpoint, apiTokens } }) => {
    const asked = new URL(request.url).searchParams
    const headers = { authorization: 'Bearer ' + apiTokens[asked.get('token')] }
    const answer = await fetch(apiEndpoint + asked.get('path'), { headers })
    return new Response(String(answer.status))
  },
  events: { page_feedback: () => {} },
  fetch_published_script: () => new Response('1'),
})`
const scopes = [
  ...['site:metadata:read', 'site:views:read', 'page:feedback:read', 'site:script:inject'],
  ...['site:adaptive:read', 'space:metadata:write'],
]

describe('the agreement of an installation', () => {
  let annex: Annex
  let path: string
  let endpoint: string
  let site: string
  before(async () => {
    annex = await startAnnex({ plugins: { uses: { script, scopes } } })
    const installed = await installSample(annex, 'uses', 'site')
    endpoint = installed.endpoint
    path = installed.path.replace(/\/sites\/.*$/, '')
    site = installed.path.split('/').at(-1) ?? ''
  })
  after(() => annex.close())

  const agreement = async (): Promise<Json> => {
    const { status, json, text } = await annex.api('GET', `${path}/agreement`)
    assert.equal(status, 200, text)
    return json
  }
  const used = async () =>
    Object.fromEntries(
      (await agreement()).agreed.permissions
        .filter(({ kind }: Json) => kind === 'scope')
        .map(({ name, usedLast30Days, lastUsedOn }: Json) => [name, [usedLast30Days, lastUsedOn]]),
    )
  const ask = async (asked: string, token = 'installation') => {
    const answer = await fetch(`${endpoint}?token=${token}&path=${encodeURIComponent(asked)}`)
    return answer.text()
  }
  const today = () => new Date().toISOString().slice(0, 10)

  it('says at first that no scope was used, and since when it counts', async () => {
    const none = Object.fromEntries(scopes.map((scope) => [scope, [0, null]]))
    assert.deepEqual(await used(), none)
    const { agreed, countedSince } = await agreement()
    assert.ok(Math.abs(Date.parse(countedSince) - Date.now()) < 60_000, countedSince)
    const host = agreed.permissions.find(({ kind }: Json) => kind === 'host')
    assert.deepEqual(Object.keys(host), ['kind', 'name', 'sentence'], 'only scopes are counted')
  })

  it('counts calls of the script with each token, and none that is refused', async () => {
    const { organization } = annex.server.samples
    const place = `/v1/orgs/${organization}/sites/${site}`
    assert.equal(await ask(place), '200')
    assert.equal(await ask(place), '200')
    assert.equal(await ask(place, 'integration'), '200')
    assert.equal(await ask(`/v1/orgs/${organization}/sites/site_unknown`), '404')
    assert.equal(await ask(`${place}/adaptive-schema`), '404', 'the site has none')
    assert.equal(await ask('/v1/me'), '200')
    assert.deepEqual((await used())['site:metadata:read'], [3, today()])
    assert.deepEqual((await used())['site:adaptive:read'], [0, null])
    await annex.api('GET', place)
    assert.deepEqual((await used())['site:metadata:read'], [3, today()], 'a person uses none')
  })

  it('counts events that the scope lets the script get', async () => {
    const { organization } = annex.server.samples
    const visitor = { anonymousId: 'a', cookies: {}, userAgent: '', ip: '203.0.113.7' }
    const seen = { siteId: site, url: 'https://docs.example.com/', referrer: '', visitor }
    const feedback = { pageId: 'page', feedback: { rating: 'good', comment: '' } }
    for (const event of [
      { ...seen, type: 'page_feedback', ...feedback },
      { ...seen, type: 'site_view' },
    ]) {
      const sent = await annex.api('POST', `/v1/events?organization=${organization}`, event)
      assert.equal(sent.status, 202, sent.text)
    }
    const uses = await until(used, (now) => now['page:feedback:read'][0] === 1)
    assert.deepEqual(uses['page:feedback:read'], [1, today()])
    assert.deepEqual(uses['site:views:read'], [1, today()], 'the script has no handler for a view')
  })

  it('counts the published scripts that it makes', async () => {
    const { json } = await annex.api('GET', `${path}/sites/${site}`)
    const script = await fetch(json.urls.publishedScript)
    assert.equal(await script.text(), '1')
    assert.deepEqual((await used())['site:script:inject'], [1, today()])
  })

  it('is the same for a reader, and hidden from another organization', async () => {
    const tokenOf = async (organization: string, role: string): Promise<string> => {
      const { json, text } = await annex.api('POST', `/v1/orgs/${organization}/tokens`, { role })
      assert.ok(json.token, text)
      return json.token
    }
    await annex.api('POST', '/v1/orgs', { subdomain: 'elsewhere', title: 'Elsewhere' })
    const { organization } = annex.server.samples
    const reader = await annex.api(
      'GET',
      `${path}/agreement`,
      undefined,
      await tokenOf(organization, 'reader'),
    )
    assert.deepEqual(reader.json, await agreement())
    const stranger = await tokenOf('elsewhere', 'admin')
    assert.equal((await annex.api('GET', `${path}/agreement`, undefined, stranger)).status, 404)
  })

  it('keeps the uses of a scope that the script no longer declares until its organization agrees anew', async () => {
    writePlugin(annex.pluginsDir, 'uses', { script, scopes: ['site:script:inject'] })
    await annex.api('POST', '/v1/reload')
    assert.equal(await ask(`/v1/orgs/${annex.server.samples.organization}/sites/${site}`), '403')
    const { agreed, version } = await agreement()
    assert.deepEqual([version, agreed.version], [2, 1])
    assert.deepEqual((await used())['site:metadata:read'], [3, today()], 'and the refused call is none')
  })
})
