import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { agreementTo } from '../support/agreement.ts'
import { type Annex, type Json, startAnnex, until } from '../support/annex.ts'

/** Logs its setup events. */
const script = `
import { createIntegration } from '@annex/runtime'
const tell = (event) => console.log(JSON.stringify(event))
export default createIntegration({
  fetch: async (request, { environment, api }) => {
    const { integration, installation } = environment
    const own = [integration.name, installation.id]
    if (!request.url.endsWith('/connect')) return Response.json(environment)
    const credentials = { access_token: 'secret-of-the-connection' }
    const { data } = await api.integrations.getIntegrationInstallationById(...own)
    const configuration = { ...data.configuration, connection: credentials, oauth_credentials: credentials, kept: 1 }
    await api.integrations.updateIntegrationInstallation(...own, { configuration })
    return new Response('connected')
  },
  events: { installation_setup: tell, site_installation_setup: tell, space_installation_setup: tell },
})`

const level = `
    properties:
      region: { type: string, title: Region, description: Where, enum: [eu, us] }
      name: { type: string, title: Name, description: Who }
      limit: { type: number, title: Limit, description: How many, default: 5 }
      connection: { type: button, title: Connection, description: Go, button_text: Go, callback_url: /oauth }
    required: [region, name, limit]`
const more = ['account', 'site', 'space'].map((name) => `  ${name}:${level}`).join('\n')

describe('one setting', () => {
  let annex: Annex
  let paths: Record<'installation' | 'site' | 'space', string>
  let endpoint: string
  let id: string
  before(async () => {
    annex = await startAnnex({ plugins: { settled: { script, more: `configurations:\n${more}` } } })
    const { organization, site, space } = annex.server.samples
    const base = '/v1/integrations/settled/installations'
    const installed = await annex.api('POST', base, {
      organization,
      ...(await agreementTo(annex, 'settled')),
    })
    id = installed.json.id
    endpoint = installed.json.urls.publicEndpoint
    const installation = `${base}/${id}`
    await annex.api('POST', `${installation}/sites`, { site })
    await annex.api('POST', `${installation}/spaces`, { space })
    paths = { installation, site: `${installation}/sites/${site}`, space: `${installation}/spaces/${space}` }
  })
  after(() => annex.close())

  const put = (path: string, name: string, value: unknown) =>
    annex.api('PUT', `${path}/configuration/${name}`, { value })
  const take = (path: string, name: string) => annex.api('DELETE', `${path}/configuration/${name}`)
  const setups = async (type: string): Promise<Json[]> => {
    const { json } = await annex.api('GET', `/v1/logs?installation=${id}&limit=200`)
    return json.items.map(({ text }: Json) => JSON.parse(text)).filter((event: Json) => event.type === type)
  }

  it('is marked as a button at each level', async () => {
    const served = [
      (await annex.api('GET', '/v1/integrations/settled')).json,
      ...(await annex.api('GET', '/v1/integrations')).json.items,
    ]
    for (const { configurations } of served) {
      for (const kind of ['account', 'site', 'space']) {
        const { connection, name } = configurations[kind].properties
        assert.deepEqual([connection.button, connection.type, name.button], [true, undefined, undefined])
      }
    }
  })

  // Sites and spaces come first: the account's values are their defaults.
  for (const kind of ['site', 'space', 'installation'] as const) {
    const type = kind === 'installation' ? 'installation_setup' : `${kind}_installation_setup`

    it(`can be stored alone (${kind}): the level is pending until all required ones are set`, async () => {
      const first = await put(paths[kind], 'region', 'eu')
      assert.deepEqual([first.status, first.json.status], [200, 'pending'])
      assert.deepEqual(first.json.configuration, { region: 'eu' })
      assert.deepEqual(first.json.problems, [{ path: '/configuration/name', message: 'is required' }])
      const second = await put(paths[kind], 'name', 'Ada')
      assert.deepEqual([second.status, second.json.problems], [200, undefined])
      // A site or space waits for the first setup event of its installation.
      const { json } = await until(
        () => annex.api('GET', paths[kind]),
        (found) => found.json.status === 'active',
      )
      assert.deepEqual(json.configuration, { region: 'eu', name: 'Ada' })
    })

    it(`causes a setup event of its level (${kind}), each time`, async () => {
      const events = await until(
        () => setups(type),
        (found) => found.length >= 3,
      )
      assert.deepEqual(
        events.map(({ status }) => status),
        ['pending', 'pending', 'active'],
      )
      assert.deepEqual(events[2].previous, { status: 'pending', configuration: { region: 'eu' } })
    })

    it(`is refused with only its own error (${kind}), and changes nothing`, async () => {
      const before = (await annex.api('GET', paths[kind])).json
      for (const [name, value, message] of [
        ['region', 'mars', /"mars"/],
        ['limit', 'many', /must be a number/],
        ['name', '', /is required/],
        ['regoin', 'eu', /region/],
        ['connection', { access_token: 'forged' }, /set by connecting/],
        ['__proto__', { status: 'active' }, /__proto__|no name/],
      ] as const) {
        const refused = await put(paths[kind], name, value)
        assert.deepEqual([refused.status, refused.json.error.code], [422, 'configuration_invalid'], name)
        assert.equal(refused.json.error.details.length, 1, refused.text)
        assert.equal(refused.json.error.details[0].path, `/configuration/${name}`)
        assert.match(refused.json.error.details[0].message, message)
      }
      assert.equal((await take(paths[kind], 'regoin')).status, 422)
      assert.equal((await annex.api('PUT', `${paths[kind]}/configuration/name`, {})).status, 422)
      assert.deepEqual((await annex.api('GET', paths[kind])).json, before)
    })
  }

  it('falls back to its default, or leaves a pending level, when it is removed', async () => {
    await put(paths.installation, 'limit', 7)
    const withDefault = await take(paths.installation, 'limit')
    assert.deepEqual([withDefault.status, withDefault.json.status], [200, 'active'])
    const environment: Json = await (await fetch(endpoint)).json()
    assert.equal(environment.installation.configuration.limit, 5)
    const required = await take(paths.installation, 'name')
    assert.deepEqual([required.json.status, required.json.configuration], ['pending', { region: 'eu' }])
    assert.equal(((await (await fetch(endpoint)).json()) as Json).installation.status, 'pending')
    assert.equal((await put(paths.installation, 'name', 'Ada')).json.status, 'active')
  })

  it('can be edited at the same time as others, without a lost edit', async () => {
    const edits = [
      put(paths.site, 'region', 'us'),
      put(paths.site, 'name', 'Bea'),
      put(paths.site, 'limit', 9),
    ]
    for (const { status } of await Promise.all(edits)) assert.equal(status, 200)
    const { configuration } = (await annex.api('GET', paths.site)).json
    assert.deepEqual(configuration, { region: 'us', name: 'Bea', limit: 9 })
  })

  it('that is a button is disconnected with its copy for scripts, and other values stay', async () => {
    assert.equal(await (await fetch(`${endpoint}/connect`)).text(), 'connected')
    const connected = await put(paths.installation, 'region', 'us')
    assert.equal(connected.json.connections.connection.state, 'connected')
    const disconnected = await take(paths.installation, 'connection')
    assert.deepEqual(
      [disconnected.status, disconnected.json.connections.connection],
      [200, { state: 'none' }],
    )
    const environment: Json = await (await fetch(endpoint)).json()
    assert.deepEqual(environment.installation.configuration, { limit: 5, region: 'us', name: 'Ada', kept: 1 })
  })

  it('can be edited by people only', async () => {
    const { apiTokens }: Json = await (await fetch(endpoint)).json()
    const path = `${paths.installation}/configuration/region`
    const refused = await annex.api('PUT', path, { value: 'us' }, apiTokens.installation)
    assert.deepEqual([refused.status, refused.json.error.code], [403, 'forbidden'])
  })
})
