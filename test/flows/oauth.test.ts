import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { agreementTo } from '../support/agreement.ts'
import { type Annex, type Json, startAnnex, until } from '../support/annex.ts'
import { createBrowser } from '../support/browser.ts'

/** A provider that gives each refresh token once, as RFC 9700 has it: a second use of one is refused. */
async function startProvider() {
  const asked: Record<string, string>[] = []
  const failures: boolean[] = []
  let current = ''
  const server: Server = createServer(async (request, response) => {
    const form = Object.fromEntries(new URLSearchParams(await text(request)))
    if (failures.pop()) return response.writeHead(503).end('later')
    asked.push(form)
    const isGood = form.grant_type === 'authorization_code' || form.refresh_token === current
    if (!isGood) return response.writeHead(400).end('{"error":"invalid_grant"}')
    current = `refresh-${asked.length}`
    const tokens = { access_token: `access-${asked.length}`, refresh_token: current }
    // The first token has to be refreshed at once.
    const expiresIn = form.grant_type === 'authorization_code' ? 1 : 3600
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ ...tokens, expires_in: expiresIn }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    /** Each entry fails one request. */
    failures,
    close: () => server.close(),
  }
}

const script = (provider: string) => `
import { createIntegration, createOAuthHandler, getOAuthToken } from '@annex/runtime'
const config = {
  clientId: 'id', clientSecret: 'shh', authorizeURL: '${provider}/authorize', accessTokenURL: '${provider}/token',
}
const connect = createOAuthHandler(config)
export default createIntegration({
  fetch: async (request, context) => {
    const { installation, siteInstallation } = context.environment
    const { pathname } = new URL(request.url)
    if (pathname.endsWith('/oauth')) return connect(request, context)
    // As scripts of the other platform name the address that is registered.
    const redirectURL = context.environment.integration.urls.publicEndpoint + '/other'
    if (pathname.endsWith('/other')) return createOAuthHandler({ ...config, redirectURL })(request, context)
    const { configuration } = installation ?? {}
    if (pathname.endsWith('/store')) {
      await context.api.integrations.updateIntegrationInstallation('connected', installation.id, await request.json())
    }
    if (pathname.endsWith('/token')) {
      return new Response(await getOAuthToken(configuration.oauth_credentials, config, context))
    }
    return Response.json({ account: configuration, site: siteInstallation?.configuration })
  },
  events: { installation_setup: (event) => console.log(JSON.stringify([event.status, event.siteId ?? null])) },
})`

const button = (path: string) =>
  `{ type: button, title: Connection, description: Go, button_text: Go, callback_url: ${path} }`
const more = `
configurations:
  account:
    properties:
      region: { type: string, title: Region, description: Where }
      connection: ${button('/oauth')}
      other: ${button('/other')}
    required: [region, connection]
  site:
    properties:
      connection: ${button('/oauth')}`

describe('an OAuth connection', () => {
  let annex: Annex
  let provider: Awaited<ReturnType<typeof startProvider>>
  let path: string
  let endpoint: string
  let id: string
  before(async () => {
    provider = await startProvider()
    annex = await startAnnex({ plugins: { connected: { script: script(provider.url), more } } })
    const { organization } = annex.server.samples
    const { json } = await annex.api('POST', '/v1/integrations/connected/installations', {
      organization,
      ...(await agreementTo(annex, 'connected')),
    })
    id = json.id
    path = `/v1/integrations/connected/installations/${id}`
    endpoint = json.urls.publicEndpoint
    await annex.api('PUT', `${path}/configuration/region`, { value: 'eu' })
  })
  after(async () => {
    await annex.close()
    provider.close()
  })

  const read = async (of = path): Promise<Json> => (await annex.api('GET', of)).json

  /** What a browser on this machine does: to the provider, and back with a code. It needs no link. */
  async function connect(from: string, at = '/oauth'): Promise<Response> {
    const browser = createBrowser()
    const started = await browser.get(from + at)
    assert.equal(started.status, 302)
    const there = new URL(started.headers.get('location') ?? '')
    assert.equal(there.searchParams.get('redirect_uri'), `${annex.url}/x/connected${at}`)
    const back = new URL(there.searchParams.get('redirect_uri') ?? '')
    back.searchParams.set('code', 'c0de')
    back.searchParams.set('state', there.searchParams.get('state') ?? '')
    return browser.get(back.href)
  }

  it('belongs to the button that started it, and keeps the settings', async () => {
    const pending = await read()
    assert.deepEqual(pending.problems, [
      { path: '/configuration/connection', message: 'is required: connect first' },
    ])
    const answer = await connect(endpoint)
    assert.equal(answer.status, 200, await answer.text())
    const { status, configuration, connections } = await read()
    assert.deepEqual([status, configuration], ['active', { region: 'eu' }])
    assert.deepEqual([connections.connection.state, connections.other], ['connected', { state: 'none' }])
    const { account }: Json = await (await fetch(endpoint)).json()
    assert.equal(account.oauth_credentials.access_token, 'access-1')
    assert.deepEqual(account.connection, account.oauth_credentials)
    assert.equal(account.region, 'eu')
  })

  it('causes a setup event when it makes the installation active', async () => {
    const lines = await until(
      async () => (await annex.api('GET', `/v1/logs?installation=${id}`)).json.items,
      (items) => items.length >= 3,
    )
    assert.deepEqual(
      lines.map(({ text: line }: Json) => line),
      ['["pending",null]', '["pending",null]', '["active",null]'],
    )
  })

  it('is refreshed once for five simultaneous requests, and not again for later ones', async () => {
    const tokens = () =>
      Promise.all(Array.from({ length: 5 }, async () => (await fetch(`${endpoint}/token`)).text()))
    assert.deepEqual(await tokens(), Array(5).fill('access-2'))
    assert.deepEqual(await tokens(), Array(5).fill('access-2'))
    assert.deepEqual(
      provider.asked.map(({ grant_type }) => grant_type),
      ['authorization_code', 'refresh_token'],
    )
    const { account }: Json = await (await fetch(endpoint)).json()
    assert.equal(account.oauth_credentials.access_token, 'access-2')
    assert.deepEqual(account.connection, account.oauth_credentials, 'the button has the new ones too')
    assert.equal(account.region, 'eu')
  })

  it('belongs to the site where it began', async () => {
    const { site } = annex.server.samples
    const inSite = await annex.api('POST', `${path}/sites`, { site })
    assert.equal((await connect(inSite.json.urls.publicEndpoint)).status, 200)
    const sitePath = `${path}/sites/${site}`
    assert.equal((await read(sitePath)).connections.connection.state, 'connected')
    const { account, site: ofSite }: Json = await (await fetch(inSite.json.urls.publicEndpoint)).json()
    assert.equal(ofSite.oauth_credentials.access_token, 'access-3')
    assert.equal(account.oauth_credentials.access_token, 'access-2')
  })

  it('of the account is refreshed for the account, also from a site', async () => {
    // Expired, as the provider's answer of an hour ago.
    const stale = { access_token: 'access-3', refresh_token: 'refresh-3', expires_at: 1 }
    const configuration = { region: 'eu', connection: stale, oauth_credentials: stale }
    const stored = await fetch(`${endpoint}/store`, {
      method: 'POST',
      body: JSON.stringify({ configuration }),
    })
    assert.equal(stored.status, 200)
    // A provider that fails for a moment is asked again.
    provider.failures.push(true, true)
    const own = `${endpoint}/sites/${annex.server.samples.site}`
    assert.equal(await (await fetch(`${own}/token`)).text(), 'access-4')
    const { account, site: ofSite }: Json = await (await fetch(own)).json()
    assert.equal(account.oauth_credentials.access_token, 'access-4')
    assert.equal(ofSite.oauth_credentials.access_token, 'access-3')
  })

  it('has one address for all installations, even if the script names its own', async () => {
    assert.equal((await connect(endpoint, '/other')).status, 200)
    const { redirect_uri } = provider.asked.at(-1) ?? {}
    assert.equal(redirect_uri, `${annex.url}/x/connected/other`)
    assert.equal((await read()).connections.other.state, 'connected')
  })
})
