import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { agreementTo } from '../support/agreement.ts'
import { type Annex, type Json, startAnnex, until } from '../support/annex.ts'
import { createBrowser } from '../support/browser.ts'
import { type OidcProvider, startOidcProvider } from '../support/oidc-provider.ts'

const script = (provider: string) => `
import { createIntegration, createOAuthHandler, getOAuthToken, revokeOAuthTokens } from '@annex/runtime'
const config = {
  clientId: 'annex', clientSecret: 'secret-of-the-client', scopes: ['openid', 'email', 'offline_access'],
  prompt: 'consent', authorizeURL: '${provider}/auth', accessTokenURL: '${provider}/token',
  revokeURL: '${provider}/token/revocation',
}
const connect = createOAuthHandler(config)
const revoke = (event, context) => revokeOAuthTokens(event, config, context)
export default createIntegration({
  events: { installation_setup: revoke, installation_deleted: revoke },
  fetch: async (request, context) => {
    const { pathname } = new URL(request.url)
    if (pathname.endsWith('/oauth')) return connect(request, context)
    const { installation, apiTokens } = context.environment
    if (pathname.endsWith('/tokens')) return Response.json(apiTokens)
    return new Response(await getOAuthToken(installation.configuration.oauth_credentials, config, context))
  },
})`

const more = `
configurations:
  account:
    properties:
      account: { type: button, title: Account, description: Go, button_text: Go, callback_url: /oauth }`

describe('the tokens of a connection with a real provider', () => {
  let annex: Annex
  let provider: OidcProvider
  let path: string
  let endpoint: string
  before(async () => {
    // A token of one second is refreshed before its first use.
    provider = await startOidcProvider({ lifetimes: [1, 3600, 1, 3600] })
    annex = await startAnnex({ plugins: { tracker: { script: script(provider.url), more } } })
    const { organization } = annex.server.samples
    const base = '/v1/integrations/tracker/installations'
    const { json } = await annex.api('POST', base, { organization, ...(await agreementTo(annex, 'tracker')) })
    path = `${base}/${json.id}`
    endpoint = json.urls.publicEndpoint
    provider.register([`${annex.url}/x/tracker/oauth`])
  })
  after(async () => {
    await annex.close()
    provider.close()
  })

  async function connect(): Promise<void> {
    const { json } = await annex.api('POST', `${path}/configuration/account/connect`)
    const { response } = await createBrowser().follow(json.url)
    assert.equal(response.status, 200, await response.text())
  }

  const connection = async (): Promise<Json> => (await annex.api('GET', path)).json.connections.account
  const askToken = () => fetch(`${endpoint}/token`)

  it('are refreshed once for five simultaneous requests', async () => {
    await connect()
    const tokens = await Promise.all(Array.from({ length: 5 }, async () => (await askToken()).text()))
    assert.equal(new Set(tokens).size, 1, tokens.join())
    assert.deepEqual(provider.asked, ['authorization_code', 'refresh_token'])
    assert.deepEqual((await connection()).state, 'connected')
  })

  it('break the connection when the provider refuses a refresh, until it is made again', async () => {
    await connect()
    await provider.revokeAll()
    const refused = await askToken()
    assert.equal(refused.status, 401)
    assert.match(await refused.text(), /Connect it again/)
    const { state, lastError, account } = await connection()
    assert.deepEqual([state, lastError, account], ['broken', 'invalid_grant', 'ada@example.com'])
    await connect()
    assert.equal((await connection()).state, 'connected')
    assert.equal((await connection()).lastError, undefined)
    assert.equal((await askToken()).status, 200)
  })

  it('are renewed by one claim at a time', async () => {
    const { installation }: Json = await (await fetch(`${endpoint}/tokens`)).json()
    const claim = () =>
      annex.api('PATCH', path, { connection: { names: ['account'], step: 'claim' } }, installation)
    const claims = await Promise.all([claim(), claim(), claim()])
    assert.deepEqual(claims.map(({ status }) => status).toSorted(), [200, 409, 409])
    await annex.api('PATCH', path, { connection: { names: ['account'], step: 'renewed' } }, installation)
    assert.equal((await claim()).status, 200)
  })

  it('end when a person disconnects the connection', async () => {
    const { status, json, text } = await annex.api('DELETE', `${path}/configuration/account`)
    assert.equal(status, 200)
    assert.deepEqual(json.connections.account, { state: 'none' })
    assert.ok(!text.includes('access_token'))
    assert.equal((await askToken()).status, 401)
  })

  it('are revoked at the provider by a disconnect and by an uninstall', async () => {
    const revocations = (many: number) =>
      until(
        async () => provider.asked.filter((one) => one === 'revoked').length,
        (count) => count === many,
      )
    await revocations(1)
    await connect()
    await annex.api('DELETE', `${path}/configuration/account`)
    await revocations(2)
    await connect()
    await annex.api('DELETE', path)
    await revocations(3)
  })
})
