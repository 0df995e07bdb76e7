import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { agreementTo } from '../support/agreement.ts'
import { type Annex, installSample, type Json, startAnnex, until } from '../support/annex.ts'

const script = `import { createIntegration, createOAuthHandler } from '@annex/runtime'
const oauth = createOAuthHandler({
  clientId: 'id', clientSecret: 'key',
  authorizeURL: 'https://provider.example/authorize', accessTokenURL: 'https://provider.example/token',
})
export default createIntegration({
  fetch: async (request, context) => {
    const { environment } = context
    const { pathname } = new URL(request.url)
    if (pathname.endsWith('/oauth')) return oauth(request, context)
    if (pathname.endsWith('/broken')) throw new Error('no such thing')
    if (pathname.endsWith('/store')) {
      const { installation, siteInstallation, apiTokens } = environment
      const body = { configuration: { cursor: 'stored-cursor', api_key: 'stored-key' }, keep: 'all' }
      const site = siteInstallation && '/sites/' + siteInstallation.site
      const url = environment.apiEndpoint + '/v1/integrations/' + environment.integration.name + '/installations/' + installation.id + (site ?? '')
      const { status } = await fetch(url, { method: 'PATCH', headers: { authorization: 'Bearer ' + apiTokens.installation, 'content-type': 'application/json' }, body: JSON.stringify(body) })
      return new Response(String(status))
    }
    return new Response('ok')
  },
  events: {
    installation_setup: () => { console.log('account is set up') },
    site_installation_setup: (event, { environment }) => {
      console.log('team is ' + environment.siteInstallation.configuration.team)
      if (environment.siteInstallation.configuration.team === 'wrong') throw new Error('there is no such team')
    },
  },
})`

const more = `
configurations:
  account:
    properties:
      team: { type: string, title: Team }
      key: { type: string, secret: true }
      limit: { type: string }
  site:
    properties:
      team: { type: string, title: Team, default: docs }
      key: { type: string }
      limit: { type: number }
      connection: { type: button, button_text: Connect, callback_url: '/oauth?kind=site' }
      crashing: { type: button, button_text: Connect, callback_url: /broken }
      plain: { type: button, button_text: Connect, callback_url: /plain }
    required: [team]`

describe('the form of the settings of a level', () => {
  let annex: Annex
  let account: string
  let site: string
  let endpoint: string
  before(async () => {
    const component = `configurations:\n  account: { componentId: setup }`
    annex = await startAnnex({
      plugins: { settled: { script, more }, composed: { script, more: component } },
    })
    const installed = await installSample(annex, 'settled', 'site', {})
    site = installed.path
    endpoint = installed.endpoint
    account = site.replace(/\/sites\/.*$/, '')
  })
  after(() => annex?.close())

  const form = async (path: string): Promise<Json> => (await annex.api('GET', `${path}/configuration`)).json
  const put = (path: string, name: string, value: unknown) =>
    annex.api('PUT', `${path}/configuration/${name}`, { value })

  it('has the JSON Schema of the version that the level runs', async () => {
    const { version, schema, hasScript } = await form(site)
    assert.equal(version, 1)
    assert.equal(hasScript, true)
    assert.deepEqual(Object.keys(schema.properties), [
      'team',
      'key',
      'limit',
      'connection',
      'crashing',
      'plain',
    ])
    assert.equal(schema.properties.connection.button, true)
  })

  it('has the values of the account that a site takes, without the text of a secret', async () => {
    await put(account, 'team', 'api')
    await put(account, 'key', 'hidden-key')
    await put(account, 'limit', 'many')
    const { inherited } = await form(site)
    // The site declares a number where the account has a text.
    assert.deepEqual(inherited, { team: 'api', key: '[secret]' })
    assert.deepEqual((await form(account)).inherited, {})
  })

  it('names what a script has stored, and shows no value of it', async () => {
    assert.equal(await (await fetch(`${endpoint}/store`)).text(), '200')
    const answer = await annex.api('GET', `${site}/configuration`)
    assert.deepEqual(answer.json.stored, ['api_key', 'cursor'])
    assert.doesNotMatch(answer.text, /stored-/)
  })

  it('lets a person clear such a value, and records it', async () => {
    const cleared = await annex.api('DELETE', `${site}/configuration/cursor`)
    assert.equal(cleared.status, 200)
    assert.match(cleared.json.setupEvent, /^evt_/)
    assert.deepEqual((await form(site)).stored, ['api_key'])
    const { items } = (await annex.api('GET', '/v1/audit?limit=5')).json
    const found = items.find(({ action }: Json) => action === 'settings.change')
    assert.deepEqual(found.after.cleared, ['cursor'])
    assert.equal((await annex.api('DELETE', `${site}/configuration/cursor`)).status, 422)
    assert.equal((await put(site, 'api_key', 'mine')).status, 422)
    assert.equal((await annex.api('DELETE', `${site}/configuration/constructor`)).status, 422)
  })

  it('leaves a level pending whose component has stored nothing yet', async () => {
    const base = '/v1/integrations/composed/installations'
    const words = { organization: 'home', ...(await agreementTo(annex, 'composed')) }
    const { id, urls } = (await annex.api('POST', base, words)).json
    const path = `${base}/${id}`
    assert.equal((await form(path)).schema.componentId, 'setup')
    assert.equal((await annex.api('GET', path)).json.status, 'pending')
    assert.equal((await annex.api('DELETE', `${path}/configuration/cursor`)).status, 200)
    assert.equal((await annex.api('GET', path)).json.status, 'pending')
    await fetch(`${urls.publicEndpoint}/store`)
    assert.equal((await annex.api('GET', path)).json.status, 'active')
    assert.deepEqual((await form(path)).stored, ['api_key', 'cursor'])
    assert.equal((await annex.api('DELETE', `${path}/configuration/cursor`)).status, 200)
    assert.equal((await annex.api('GET', path)).json.status, 'active')
  })

  it('of an edit: the answer names its setup event, whose receipt leads to the lines of the script', async () => {
    for (const [team, outcome, line] of [
      ['docs', 'ok', /team is docs/],
      ['wrong', 'script_error', /there is no such team/],
    ] as const) {
      const { setupEvent } = (await put(site, 'team', team)).json
      const { items } = await until(
        async () => (await annex.api('GET', `/v1/receipts?event=${setupEvent}`)).json,
        (found) => found.count > 0,
      )
      assert.equal(items[0].outcome, outcome)
      const logs = (await annex.api('GET', `/v1/logs?request=${items[0].request}`)).text
      assert.match(logs, line)
    }
  })

  it('of a connection: says where a button leads, with the callback address', async () => {
    const target = async (name: string) =>
      (await annex.api('GET', `${site}/configuration/${name}/connect`)).json
    const callback = `${annex.url}/x/settled/oauth`
    assert.deepEqual(await target('connection'), {
      object: 'connection_target',
      callback,
      provider: 'https://provider.example',
    })
    const broken = await target('crashing')
    assert.equal(broken.callback, `${annex.url}/x/settled/broken`)
    assert.equal(typeof broken.problem, 'string')
    assert.doesNotMatch(broken.problem, /no such thing|at /)
    assert.deepEqual(await target('plain'), {
      object: 'connection_target',
      callback: `${annex.url}/x/settled/plain`,
    })
    assert.equal((await annex.api('GET', `${site}/configuration/team/connect`)).status, 404)
  })
})
