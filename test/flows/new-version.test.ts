import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { agreementTo } from '../support/agreement.ts'
import { type Annex, type Json, startAnnex, until } from '../support/annex.ts'
import { writePlugin } from '../support/plugin-folder.ts'

const script = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: async (request, { environment, api }) => {
    if (!request.url.endsWith('/connect')) return Response.json(environment)
    const { integration, installation } = environment
    const { configuration } = installation
    await api.integrations.updateIntegrationInstallation(integration.name, installation.id, {
      configuration: { ...configuration, connection: { access_token: 'secret-of-the-connection' } },
    })
    return new Response('connected')
  },
})`

const text = (more = '') => `{ type: string, title: Title, description: Text${more} }`
const number = '{ type: number, title: Title, description: Number }'
const button = '{ type: button, title: Title, description: Go, button_text: Go, callback_url: /oauth }'

const settings = (properties: Record<string, string>, required: string[]) =>
  [
    'configurations:',
    ...['account', 'site'].map(
      (level) => `  ${level}:
    properties:
${Object.entries(properties)
  .map(([name, property]) => `      ${name}: ${property}`)
  .join('\n')}
    required: [${required.join(', ')}]`,
    ),
  ].join('\n')

const first = settings({ region: text(', enum: [eu, us]'), limit: number, connection: button }, ['region'])
const second = settings(
  { region: text(', enum: [us]'), limit: text(', default: low'), connection: text(), owner: text() },
  ['region', 'owner'],
)

describe('an update of the version', () => {
  let annex: Annex
  let paths: Record<'account' | 'site', string>
  let endpoint: string
  before(async () => {
    const scopes = ['site:views:read']
    annex = await startAnnex({ plugins: { settled: { script, scopes, more: first } } })
    const { organization, site } = annex.server.samples
    const base = '/v1/integrations/settled/installations'
    const { json } = await annex.api('POST', base, { organization, ...(await agreementTo(annex, 'settled')) })
    endpoint = json.urls.publicEndpoint
    paths = { account: `${base}/${json.id}`, site: `${base}/${json.id}/sites/${site}` }
    await annex.api('POST', `${base}/${json.id}/sites`, { site })
    for (const path of Object.values(paths)) {
      const { status } = await annex.api('PATCH', path, { configuration: { region: 'eu', limit: 3 } })
      assert.equal(status, 200)
    }
    assert.equal(await (await fetch(`${endpoint}/connect`)).text(), 'connected')
  })
  after(() => annex.close())

  async function update(more: string, version: string): Promise<void> {
    const scopes = ['site:views:read']
    writePlugin(annex.pluginsDir, 'settled', { script: `${script} // ${version}`, scopes, more })
    const { json } = await annex.api('POST', '/v1/reload')
    assert.deepEqual(
      json.items.map(({ state }: Json) => state),
      ['loaded'],
    )
  }

  const read = async (path: string): Promise<Json> => (await annex.api('GET', path)).json
  let published = 0
  const publish = async (): Promise<number> => {
    published += 1
    const visitor = { anonymousId: 'a', userAgent: 'b', ip: '192.0.2.1', cookies: {} }
    const more = { visitor, url: 'https://docs.example/', referrer: 'https://docs.example/' }
    const event = {
      eventId: `view_${published}`,
      type: 'site_view',
      siteId: annex.server.samples.site,
      ...more,
    }
    const { status, json, text } = await annex.api('POST', '/v1/events?organization=home', event)
    assert.equal(status, 202, text)
    return json.installations
  }

  it('makes an installation and its site pending, with a reason for each wrong setting', async () => {
    assert.deepEqual(
      [(await read(paths.account)).status, (await read(paths.site)).status],
      ['active', 'active'],
    )
    assert.equal(await publish(), 1)
    await update(second, 'second')
    for (const path of Object.values(paths)) {
      const { status, problems } = await read(path)
      assert.equal(status, 'pending', path)
      const reasons = Object.fromEntries(problems.map(({ path: name, message }: Json) => [name, message]))
      assert.match(
        reasons['/configuration/region'],
        /must be one of its choices, found another value; allowed: us/,
      )
      assert.match(reasons['/configuration/limit'], /must be text/)
      assert.match(reasons['/configuration/owner'], /is required/)
    }
    assert.equal(await publish(), 0, 'a pending installation gets no events')
    assert.equal((await annex.api('POST', `${paths.account}/pause`)).status, 409)
  })

  it('hides the credentials of a button that the new version declares as text', async () => {
    const { text: answer, json } = await annex.api('GET', paths.account)
    assert.ok(!answer.includes('secret-of-the-connection'), answer)
    assert.ok(json.problems.some(({ path }: Json) => path === '/configuration/connection'))
  })

  it('gives the script no value of a wrong type', async () => {
    const environment: Json = await until(
      async () => (await fetch(endpoint)).json(),
      (found: Json) => found.installation.status === 'pending',
    )
    assert.deepEqual(environment.installation.configuration, { limit: 'low' })
  })

  it('makes a site active again when its settings fit', async () => {
    for (const [name, value] of Object.entries({ region: 'us', limit: 'high', owner: 'Ada' })) {
      await annex.api('PUT', `${paths.site}/configuration/${name}`, { value })
    }
    assert.equal((await read(paths.site)).status, 'active')
    assert.equal((await read(paths.account)).status, 'pending')
  })

  it('keeps all values, so that an older version finds them again', async () => {
    await update(first, 'third')
    const { status, configuration, connections, problems } = await read(paths.account)
    assert.deepEqual([status, problems], ['active', undefined])
    assert.deepEqual(configuration, { region: 'eu', limit: 3 })
    assert.equal(connections.connection.state, 'connected')
    const site = await read(paths.site)
    assert.deepEqual(
      site.problems.map(({ path }: Json) => path),
      ['/configuration/limit'],
    )
  })
})

describe('a site that inherits settings of the account', () => {
  let annex: Annex
  before(async () => {
    annex = await startAnnex({ plugins: { settled: { script, more: first } } })
  })
  after(() => annex.close())

  it('is pending while the account lacks a required one', async () => {
    const { organization, site } = annex.server.samples
    const base = '/v1/integrations/settled/installations'
    const path = `${base}/${(await annex.api('POST', base, { organization, ...(await agreementTo(annex, 'settled')) })).json.id}`
    await annex.api('POST', `${path}/sites`, { site })
    await annex.api('PUT', `${path}/configuration/region`, { value: 'eu' })
    const statusOfSite = async () => (await annex.api('GET', `${path}/sites/${site}`)).json.status
    await until(statusOfSite, (status) => status === 'active')
    await annex.api('DELETE', `${path}/configuration/region`)
    assert.equal(await statusOfSite(), 'pending')
    await annex.api('PUT', `${path}/configuration/region`, { value: 'us' })
    assert.equal(await statusOfSite(), 'active')
  })
})
