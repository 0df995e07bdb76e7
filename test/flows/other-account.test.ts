// databases: SQLite and PostgreSQL

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { agreementTo } from '../support/agreement.ts'
import { type Annex, type Answered, type Json, startAnnex } from '../support/annex.ts'
import { createBrowser } from '../support/browser.ts'
import { type OidcProvider, startOidcProvider } from '../support/oidc-provider.ts'

const script = (provider: string) => `
import { createIntegration, createOAuthHandler } from '@annex/runtime'
const connect = createOAuthHandler({
  clientId: 'annex', clientSecret: 'secret-of-the-client', scopes: ['openid', 'email', 'offline_access'],
  prompt: 'consent', authorizeURL: '${provider}/auth', accessTokenURL: '${provider}/token',
})
export default createIntegration({
  fetch: (request, context) =>
    new URL(request.url).pathname.endsWith('/oauth')
      ? connect(request, context)
      : Response.json(context.environment.installation.configuration),
})`
const more = `
configurations:
  account:
    properties:
      team: { type: string, title: Team }
      account: { type: button, title: Account, description: Go, button_text: Go, callback_url: /oauth }`

describe('a connection that comes back as another account', () => {
  let annex: Annex
  let provider: OidcProvider
  let path: string
  let endpoint: string
  before(async () => {
    provider = await startOidcProvider()
    annex = await startAnnex({ plugins: { tracker: { script: script(provider.url), more } } })
    const { organization } = annex.server.samples
    const base = '/v1/integrations/tracker/installations'
    const { json } = await annex.api('POST', base, { organization, ...(await agreementTo(annex, 'tracker')) })
    path = `${base}/${json.id}`
    endpoint = json.urls.publicEndpoint
    provider.register([`${annex.url}/x/tracker/oauth`])
    await annex.api('PUT', `${path}/configuration/team`, { value: 'blue' })
  })
  after(async () => {
    await annex.close()
    provider.close()
  })

  async function connect(as: string): Promise<void> {
    const { json } = await annex.api('POST', `${path}/configuration/account/connect`)
    const { response } = await createBrowser({ as }).follow(json.url)
    assert.equal(response.status, 200, await response.text())
  }
  const connection = async (): Promise<Json> => (await annex.api('GET', path)).json.connections.account
  const stored = async (): Promise<Json> => (await fetch(endpoint)).json()
  const answer = (method: 'POST' | 'DELETE', body?: object, token?: string): Promise<Answered> =>
    annex.api(method, `${path}/configuration/account/connection`, body, token)
  const accept = (account: string, token?: string) => answer('POST', { account }, token)
  const audited = async (action: string): Promise<Json[]> =>
    (await annex.api('GET', `/v1/audit?action=${action}`)).json.items

  it('is held: the script has the credentials from before, and no person sees the new ones', async () => {
    await connect('ada')
    const before = await stored()
    await connect('bea')
    assert.deepEqual(await stored(), before)
    const { state, account, held } = await connection()
    assert.deepEqual([state, account, held.account], ['connected', 'ada@example.com', 'bea@example.com'])
    assert.ok(Math.abs(Date.parse(held.at) - Date.now()) < 60_000)
    assert.equal(held.replaces, 'ada@example.com')
    assert.equal(Date.parse(held.until) - Date.parse(held.at), 86_400_000)
    assert.doesNotMatch((await annex.api('GET', path)).text, /access_token/)
    const [entry] = await audited('connection.hold')
    assert.deepEqual([entry?.after.account, entry?.actor.kind], ['bea@example.com', 'token'])
  })

  it('is not accepted by a reader, another organization, or as an account that was not read', async () => {
    const tokenOf = async (organization: string, role: string): Promise<string> =>
      (await annex.api('POST', `/v1/orgs/${organization}/tokens`, { role })).json.token
    await annex.api('POST', '/v1/orgs', { subdomain: 'elsewhere', title: 'Elsewhere' })
    assert.equal((await accept('bea@example.com', await tokenOf('home', 'reader'))).status, 403)
    assert.equal((await accept('bea@example.com', await tokenOf('elsewhere', 'admin'))).status, 404)
    const other = await accept('ada@example.com')
    assert.equal(other.status, 409)
    assert.match(other.json.error.message, /The account bea@example\.com waits there by now/)
    assert.equal(
      (await annex.api('POST', `${path}/configuration/team/connection`, { account: 'x' })).status,
      409,
    )
    assert.equal((await connection()).account, 'ada@example.com')
  })

  it('is deleted by a no', async () => {
    const before = await stored()
    const { status, json } = await answer('DELETE')
    assert.deepEqual([status, json.connections.account.held], [200, undefined])
    assert.deepEqual(await stored(), before)
    assert.equal((await audited('connection.refuse'))[0]?.after.account, 'bea@example.com')
    assert.equal((await answer('DELETE')).status, 409)
    assert.equal((await accept('bea@example.com')).status, 409)
  })

  it('is stored by a yes, and the settings stay', async () => {
    const before = await stored()
    await connect('bea')
    const { status, json, text } = await accept('bea@example.com')
    assert.equal(status, 200, text)
    assert.doesNotMatch(text, /access_token/)
    const { account, held, state } = json.connections.account
    assert.deepEqual([state, account, held], ['connected', 'bea@example.com', undefined])
    const now = await stored()
    assert.notEqual(now.oauth_credentials.access_token, before.oauth_credentials.access_token)
    assert.deepEqual(now.account, now.oauth_credentials, 'the button has the new ones too')
    assert.equal(now.team, 'blue')
    const [made] = await audited('connection.create')
    assert.deepEqual([made?.after.account, made?.actor.kind], ['bea@example.com', 'token'])
  })

  it('is not asked about when it is the same account, which also ends what was held', async () => {
    const { since } = await connection()
    await connect('ada')
    assert.equal((await connection()).held.account, 'ada@example.com')
    await connect('bea')
    const again = await connection()
    assert.deepEqual([again.account, again.held], ['bea@example.com', undefined])
    assert.notEqual(again.since, since)
  })

  it('keeps what waits through edits of other settings, and ends it with the connection', async () => {
    await connect('ada')
    await annex.api('PUT', `${path}/configuration/team`, { value: 'red' })
    assert.equal((await connection()).held.account, 'ada@example.com')
    await annex.api('DELETE', `${path}/configuration/account`)
    assert.deepEqual(await connection(), { state: 'none' })
    await connect('ada')
    assert.equal((await connection()).account, 'ada@example.com', 'nothing was there to replace')
  })
})
