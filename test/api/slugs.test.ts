import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Annex, installSample, type Json, startAnnex, until } from '../support/annex.ts'

const tokens = `import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: async (request, { environment }) => Response.json(environment.apiTokens),
  events: { site_view: (event) => console.log('at', event.siteId), space_content_updated: (event) => console.log('at', event.spaceId) },
})`
const scopes = ['site:metadata:read', 'space:metadata:read', 'space:content:read', 'site:views:read']

describe('a slug', () => {
  let annex: Annex
  let acme: string
  let home: { id: string; site: string; space: string }
  before(async () => {
    annex = await startAnnex({ plugins: { reading: { script: tokens, scopes } } })
    const { site, space } = annex.server.samples
    const { id } = await installSample(annex, 'reading', 'site')
    home = { id, site, space }
    // The same slugs in another organization.
    await annex.api('POST', '/v1/orgs', { subdomain: 'acme', title: 'Acme' })
    acme = (await annex.api('POST', '/v1/orgs/acme/tokens', {})).json.token
    await annex.api('POST', '/v1/orgs/acme/sites', { slug: 'sample', title: 'Theirs' })
    const place = { slug: 'handbook', title: 'Theirs', folder: 'host/start/sample-pages' }
    assert.equal((await annex.api('POST', '/v1/orgs/acme/spaces', place)).status, 201)
    const own = await annex.api('POST', '/v1/orgs/acme/spaces', { ...place, slug: 'own' })
    assert.equal(own.status, 201, own.text)
  })
  after(() => annex.close())

  it('names a site or space to install in, and its installation', async () => {
    const path = `/v1/integrations/reading/installations/${home.id}`
    const installed = await annex.api('POST', `${path}/spaces`, { space: 'handbook' })
    assert.deepEqual([installed.status, installed.json.space], [201, home.space])
    assert.match(installed.json.urls.publicEndpoint, new RegExp(`/spaces/${home.space}$`))
    const again = await annex.api('POST', `${path}/spaces`, { space: 'handbook' })
    assert.equal(again.status, 409)
    for (const [kind, slug, id] of [
      ['site', 'sample', home.site],
      ['space', 'handbook', home.space],
    ] as const) {
      const at = `${path}/${kind}s/${slug}`
      assert.equal((await annex.api('GET', at)).json[kind], id)
      const edited = await annex.api('PATCH', at, { externalIds: ['a'] })
      assert.deepEqual([edited.status, edited.json.externalIds], [200, ['a']])
      assert.equal((await annex.api('POST', `${at}/signing-secret`, {})).status, 200)
      assert.equal((await annex.api('DELETE', `${at}/signing-secret/previous`)).status, 204)
    }
    await until(
      () => annex.api('GET', `${path}/spaces/handbook`),
      ({ json }) => json.status === 'active',
    )
    assert.equal((await annex.api('GET', `${path}/sites/own`)).status, 404)
    assert.equal((await annex.api('POST', `${path}/spaces`, { space: 'own' })).status, 404)
  })

  it('names the site or space of an event', async () => {
    const visitor = { anonymousId: 'a', userAgent: '', ip: '', cookies: {} }
    const visit = { type: 'site_view', siteId: 'sample', url: 'https://a.example/', referrer: '', visitor }
    const change = { type: 'space_content_updated', spaceId: 'handbook', revisionId: 'rev_1' }
    for (const event of [visit, change]) {
      const { status, json, text } = await annex.api('POST', '/v1/events?organization=home', event)
      assert.deepEqual([status, json.installations], [202, 1], text)
    }
    const lines = async () => (await annex.api('GET', '/v1/logs?integration=reading')).json.items
    const told = await until(lines, (items) => items.length >= 2)
    assert.deepEqual(
      told.map(({ text }: Json) => text).sort(),
      [`at ${home.site}`, `at ${home.space}`].sort(),
    )
    const event = { type: 'space_content_updated', spaceId: 'own', revisionId: 'rev_1' }
    const refused = await annex.api('POST', '/v1/events?organization=home', event)
    assert.deepEqual([refused.status, refused.json.error.code], [404, 'not_found'])
  })

  it('names a site or space of the token’s own organization', async () => {
    const { installation, integration }: Json = await (
      await fetch(`${annex.url}/x/reading/${home.id}/sites/${home.site}`)
    ).json()
    assert.ok(installation && integration)
    const site = '/v1/orgs/home/sites/sample'
    for (const token of [undefined, installation, integration]) {
      assert.equal((await annex.api('GET', site, undefined, token)).json.id, home.site)
    }
    for (const token of [installation, integration]) {
      assert.equal((await annex.api('GET', '/v1/spaces/handbook', undefined, token)).json.id, home.space)
      assert.equal((await annex.api('GET', '/v1/spaces/handbook/content', undefined, token)).status, 200)
      for (const path of ['/v1/spaces/own', '/v1/orgs/acme/sites/sample', '/v1/spaces/nowhere']) {
        const { status, json } = await annex.api('GET', path, undefined, token)
        assert.deepEqual([status, json.error.code], [404, 'not_found'], path)
        assert.match(json.error.message, /that reading is installed in/)
      }
    }
    const theirs = await annex.api('GET', '/v1/spaces/handbook', undefined, acme)
    assert.deepEqual([theirs.status, theirs.json.title], [200, 'Theirs'])
    assert.equal((await annex.api('GET', '/v1/spaces/handbook/content/pages', undefined, acme)).status, 200)
    assert.equal((await annex.api('GET', `/v1/spaces/${home.space}`, undefined, acme)).status, 404)
    assert.equal((await annex.api('GET', '/v1/orgs/home/sites/sample', undefined, acme)).status, 404)
  })

  it('is refused for an operator when several organizations have it', async () => {
    const refused = await annex.api('GET', '/v1/spaces/handbook')
    assert.deepEqual([refused.status, refused.json.error.code], [400, 'bad_request'])
    assert.match(refused.json.error.message, /Several organizations have a space "handbook"/)
    const named = await annex.api('GET', '/v1/spaces/handbook?organization=acme')
    assert.deepEqual([named.status, named.json.title], [200, 'Theirs'])
    assert.equal((await annex.api('GET', '/v1/spaces/own')).json.slug, 'own')
  })
})
