import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { agreementTo } from '../support/agreement.ts'
import { type Annex, type Json, startAnnex } from '../support/annex.ts'
import { type Browser, createBrowser } from '../support/browser.ts'
import { type OidcProvider, startOidcProvider } from '../support/oidc-provider.ts'

const withHandler = (provider: string) => `
import { createIntegration, createOAuthHandler } from '@annex/runtime'
const connect = createOAuthHandler({
  clientId: 'annex', clientSecret: 'secret-of-the-client', pkce: true,
  authorizeURL: '${provider}/auth', accessTokenURL: '${provider}/token', scopes: ['openid', 'email'],
})
export default createIntegration({
  fetch: (request, context) => {
    const { pathname } = new URL(request.url)
    if (pathname.endsWith('/oauth')) return connect(request, context)
    return Response.json({ url: request.url, cookie: request.headers.get('cookie') })
  },
})`

/** A flow as it is written by hand for other platforms: its state names the installation, and is not signed. */
const byHand = (provider: string, authorize = `${provider}/auth`) => `
import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: async (request, { environment, api }) => {
    const { integration, installation } = environment
    const { pathname, searchParams } = new URL(request.url)
    const redirect = integration.urls.publicEndpoint + '/callback'
    if (pathname.endsWith('/start')) {
      const to = new URL('${authorize}')
      const fields = { client_id: 'annex', response_type: 'code', scope: 'openid email', redirect_uri: redirect }
      for (const [name, value] of Object.entries({ ...fields, state: installation.id })) to.searchParams.set(name, value)
      return Response.redirect(to.href)
    }
    if (pathname.endsWith('/login')) {
      return Response.redirect('https://login.example/authorize?client_id=visitors&state=of-a-visitor')
    }
    if (!pathname.endsWith('/callback')) return Response.json({ url: request.url })
    if (searchParams.get('state') !== installation.id) return new Response('another state', { status: 400 })
    const body = new URLSearchParams({ grant_type: 'authorization_code', client_id: 'annex',
      client_secret: 'secret-of-the-client', code: searchParams.get('code'), redirect_uri: redirect })
    const answer = await fetch('${provider}/token', { method: 'POST', body })
    if (!answer.ok) return new Response(await answer.text(), { status: 400 })
    const configuration = { account: await answer.json() }
    await api.integrations.updateIntegrationInstallation(integration.name, installation.id, { configuration })
    return new Response('connected')
  },
})`

const settings = (callbackUrl: string) => `
configurations:
  account:
    properties:
      account: { type: button, title: Account, description: Go, button_text: Go, callback_url: ${callbackUrl} }
  site:
    properties:
      account: { type: button, title: Account, description: Go, button_text: Go, callback_url: ${callbackUrl} }`

/** A level: its path in the API, and its endpoint. */
type FlowLevel = { path: string; endpoint: string }

type Attack = [name: string, reason: RegExp, attack: () => Promise<Response>]

const form = 'application/x-www-form-urlencoded'
const part = '--b\r\ncontent-disposition: form-data; name="code"\r\n\r\nof-eve\r\n--b--\r\n'

/** How, with which content type, and as which body. */
const postedCodes: [string, string, string][] = [
  ['in a form', form, 'state=x&code=of-eve'],
  ['with an escaped name', form, 'state=x&c%6Fde=of-eve'],
  ['as a text that a script reads as a form', 'text/plain', 'state=x&code=of-eve'],
  ['behind a bracket of JSON', 'application/json', '{&state=x&code=of-eve'],
  ['in a form of several parts', 'multipart/form-data; boundary=b', part],
  ['behind a long field', form, `pad=${'a'.repeat(70_000)}&code=of-eve`],
]

/** With a public address each visitor may be a stranger. */
describe('an OAuth flow with a real provider', () => {
  let annex: Annex
  let provider: OidcProvider
  let mine: FlowLevel
  let theirs: FlowLevel
  let site: FlowLevel
  let handmade: FlowLevel
  let posted: FlowLevel

  before(async () => {
    provider = await startOidcProvider()
    const port = String(await findFreePort())
    annex = await startAnnex({
      sandboxes: 'processes',
      plugins: {
        tracker: { script: withHandler(provider.url), more: settings('/oauth') },
        handmade: { script: byHand(provider.url), more: settings('/start') },
        posted: {
          script: byHand(provider.url, `${provider.url}/auth?response_mode=form_post`),
          more: settings('/start'),
        },
      },
      flags: { PORT: port, PUBLIC_URL: `http://127.0.0.1:${port}` },
    })
    const other = await annex.api('POST', '/v1/orgs', { subdomain: 'acme', title: 'Acme' })
    const { organization, site: sample } = annex.server.samples
    mine = await install('tracker', organization)
    theirs = await install('tracker', other.json.id)
    handmade = await install('handmade', organization)
    posted = await install('posted', organization)
    const inSite = await annex.api('POST', `${mine.path}/sites`, { site: sample })
    site = { path: `${mine.path}/sites/${sample}`, endpoint: inSite.json.urls.publicEndpoint }
    provider.register([`${annex.url}/x/tracker/oauth`, `${handmade.endpoint}/callback`])
  })
  after(async () => {
    await annex.close()
    provider.close()
  })

  async function install(integration: string, organization: string): Promise<FlowLevel> {
    const base = `/v1/integrations/${integration}/installations`
    const { json, text } = await annex.api('POST', base, {
      organization,
      ...(await agreementTo(annex, integration)),
    })
    assert.equal(json.object, 'installation', text + JSON.stringify(annex.server.plugins))
    return { path: `${base}/${json.id}`, endpoint: json.urls.publicEndpoint }
  }

  const linkFor = async ({ path }: FlowLevel): Promise<string> => {
    const { status, json } = await annex.api('POST', `${path}/configuration/account/connect`)
    assert.equal(status, 201)
    return json.url
  }

  /** Opens a link and agrees at the provider. @returns the address at which the provider sends the browser back */
  async function agree(browser: Browser, start: string): Promise<string> {
    const { next, response } = await browser.follow(start, /[?&](code|error)=/)
    assert.ok(next, `${response.status} ${next === undefined ? await response.text() : ''}`)
    return next
  }

  const stateOf = async ({ path }: FlowLevel): Promise<Json> =>
    (await annex.api('GET', path)).json.connections.account

  async function assertRefused(response: Response, reason: RegExp): Promise<void> {
    const text = await response.text()
    assert.equal(response.status, 403, text)
    assert.equal(JSON.parse(text).error.code, 'flow_refused')
    assert.match(JSON.parse(text).error.message, reason)
  }

  const attacks: Attack[] = [
    [
      'a state that is used twice',
      /was used before/,
      async () => {
        const browser = createBrowser()
        const back = await agree(browser, await linkFor(mine))
        assert.equal((await browser.get(back)).status, 200)
        return browser.get(back)
      },
    ],
    [
      'the answer of a provider in the browser of another person',
      /another browser/,
      async () => createBrowser().get(await agree(createBrowser({ as: 'eve' }), await linkFor(theirs))),
    ],
    [
      'the state of one installation at the endpoint of another',
      /another installation/,
      async () => {
        const browser = createBrowser({ as: 'eve' })
        const back = new URL(await agree(browser, await linkFor(mine)))
        return browser.get(`${theirs.endpoint}/oauth${back.search}`)
      },
    ],
    [
      'the state of an account at the endpoint of its site',
      /another installation, site or space/,
      async () => {
        const browser = createBrowser()
        const back = new URL(await agree(browser, await linkFor(mine)))
        return browser.get(`${site.endpoint}/oauth${back.search}`)
      },
    ],
    [
      'the state of one integration at another one',
      /of no connection of handmade/,
      async () => {
        const browser = createBrowser()
        const back = new URL(await agree(browser, await linkFor(mine)))
        return browser.get(`${handmade.endpoint}/callback${back.search}`)
      },
    ],
    [
      'a callback at a path other than the redirect address',
      /another redirect address/,
      async () => {
        const browser = createBrowser()
        const back = new URL(await agree(browser, await linkFor(mine)))
        return browser.get(`${annex.url}/x/tracker/x/oauth${back.search}`)
      },
    ],
    [
      'a code without a flow',
      /no connection that began here/,
      () => createBrowser().get(`${theirs.endpoint}/oauth?code=of-eve`),
    ],
    [
      'a code without a flow, at a path of the script',
      /no connection that began here/,
      () => createBrowser().get(`${theirs.endpoint}//x%2FOAUTH/?code=of-eve&state=x`),
    ],
    [
      'a state as the script writes it',
      /no connection that began here/,
      () =>
        createBrowser().get(
          `${theirs.endpoint}/elsewhere/oauth?code=of-eve&state=${encodeURIComponent('annex:connection:{}')}`,
        ),
    ],
    [
      'an invented state',
      /of no connection/,
      () => createBrowser().get(`${theirs.endpoint}/oauth?code=of-eve&state=annex-${'A'.repeat(43)}`),
    ],
    ...postedCodes.map(
      ([name, type, body]): Attack => [
        `a code that is posted ${name}`,
        /response_mode=query/,
        () => fetch(`${theirs.endpoint}/oauth`, { method: 'POST', headers: { 'content-type': type }, body }),
      ],
    ),
    [
      'a provider with an answer by POST',
      /response_mode=query/,
      async () => (await createBrowser().follow(await linkFor(posted))).response,
    ],
    [
      'a stranger who begins a flow at the endpoint of an installation',
      /`npx annex connect inst_\S+ --path \/oauth` answers a link/,
      () => createBrowser({ as: 'eve' }).get(`${theirs.endpoint}/oauth`),
    ],
    [
      'a stranger who writes a command into a path',
      /`npx annex connect inst_\S+ --path \/…` answers a link/,
      () => createBrowser({ as: 'eve' }).get(`${theirs.endpoint}/$(rm)/oauth`),
    ],
    [
      'a stranger who begins the flow of a script without the handler',
      /npx annex connect inst_/,
      () => createBrowser({ as: 'eve' }).get(`${handmade.endpoint}/start`),
    ],
    [
      'a link that is opened twice',
      /opened before/,
      async () => {
        const link = await linkFor(theirs)
        await createBrowser().press(link)
        return createBrowser().press(link)
      },
    ],
    [
      'a second request for the page of a link',
      /opened before/,
      async () => {
        const link = await linkFor(theirs)
        await createBrowser().press(link)
        return createBrowser().get(link)
      },
    ],
    ['a guessed link', /opened before/, () => createBrowser().get(`${annex.url}/connect/${'A'.repeat(43)}`)],
  ]
  for (const [name, reason, attack] of attacks) {
    it(`is closed to ${name}`, async () => {
      await assertRefused(await attack(), reason)
      assert.deepEqual(await stateOf(theirs), { state: 'none' })
      assert.deepEqual(await stateOf(site), { state: 'none' })
      assert.deepEqual(await stateOf(handmade), { state: 'none' })
    })
  }

  it('refuses foreign addresses in its link and at the provider', async () => {
    for (const path of [
      '//evil.example',
      '/\\evil.example',
      'https://evil.example',
      '/../x/other',
      '/%2e%2e/x',
    ]) {
      const { status } = await annex.api('POST', `${mine.path}/connect`, { path })
      assert.equal(status, 422, path)
    }
    const browser = createBrowser()
    const { next = '' } = await browser.follow(await linkFor(mine), /\/auth\?/)
    const evil = new URL(next)
    evil.searchParams.set('redirect_uri', 'https://evil.example/')
    const { response } = await browser.follow(evil.href)
    assert.equal(response.status, 400)
    assert.match(await response.text(), /redirect_uri/)
  })

  it('shows the provider and the script nothing that could begin another flow', async () => {
    const browser = createBrowser({ '__Host-annex_session': 'secret', annex_session_8080: 'secret' })
    const { next = '' } = await browser.follow(await linkFor(mine), /\/auth\?/)
    const { searchParams } = new URL(next)
    assert.match(searchParams.get('state') ?? '', /^annex-[\w-]{43}$/)
    assert.equal(searchParams.get('redirect_uri'), `${annex.url}/x/tracker/oauth`)
    assert.equal(searchParams.get('code_challenge_method'), 'S256')
    assert.match(browser.cookiesFor(mine.endpoint), /annex-flow_/)
    assert.doesNotMatch(browser.cookiesFor(handmade.endpoint), /flow/)
    const seen: Json = await (await browser.get(`${mine.endpoint}/look`)).json()
    assert.equal(seen.cookie, null)
  })

  it('sets a cookie that is HttpOnly and SameSite, for the path of the integration', async () => {
    const response = await createBrowser().press(await linkFor(mine))
    assert.equal(response.status, 303)
    const [cookie = ''] = response.headers.getSetCookie()
    assert.match(
      cookie,
      /^annex-flow_[0-9a-f-]{36}=[\w-]{43}; Path=\/x\/tracker; Max-Age=600; HttpOnly; SameSite=Lax$/,
    )
  })

  it('passes other forms to the script, also at the path of a connection', async () => {
    for (const [path, body] of [
      ['/oauth', 'command=deploy&text=barcode%20scan'],
      ['/commands', 'code=of-a-coupon'],
    ] as const) {
      const response = await fetch(mine.endpoint + path, {
        method: 'POST',
        headers: { 'content-type': form },
        body,
      })
      const text = await response.text()
      assert.doesNotMatch(text, /response_mode/, path)
    }
  })

  it('passes the login of visitors to the script', async () => {
    const response = await createBrowser().get(`${handmade.endpoint}/login`)
    assert.equal(
      response.headers.get('location'),
      'https://login.example/authorize?client_id=visitors&state=of-a-visitor',
    )
    const back: Json = await (
      await createBrowser().get(`${handmade.endpoint}/logged-in?code=1&state=of-a-visitor`)
    ).json()
    assert.equal(new URL(back.url).search, '?code=1&state=of-a-visitor')
  })

  it('holds another account for the installation of its link, and for no other', async () => {
    const browser = createBrowser({ as: 'bea' })
    const back = await agree(browser, await linkFor(mine))
    assert.equal(new URL(back).searchParams.get('iss'), provider.url)
    const answer = await browser.get(back)
    assert.equal(answer.status, 200, await answer.text())
    assert.match(answer.headers.getSetCookie().join(), /annex-flow_[^;]+; Path=\/x\/tracker; Max-Age=0/)
    const { state, account, held } = await stateOf(mine)
    assert.deepEqual([state, account, held?.account], ['connected', 'ada@example.com', 'bea@example.com'])
    assert.deepEqual(await stateOf(site), { state: 'none' })
  })

  it('connects a site, whose callback comes in at the integration', async () => {
    const browser = createBrowser()
    const answer = await browser.get(await agree(browser, await linkFor(site)))
    assert.equal(answer.status, 200, await answer.text())
    assert.equal((await stateOf(site)).state, 'connected')
  })

  it('keeps the redirect address and state of a script that implements it by hand', async () => {
    const browser = createBrowser()
    const back = await agree(browser, await linkFor(handmade))
    assert.ok(back.startsWith(`${handmade.endpoint}/callback?`), back)
    const answer = await browser.get(back)
    assert.equal(await answer.text(), 'connected')
    assert.equal((await stateOf(handmade)).state, 'connected')
    const forged = `${handmade.endpoint}/callback?code=of-eve&state=${handmade.path.split('/').at(-1)}`
    await assertRefused(await createBrowser().get(forged), /no connection that began here/)
  })

  it('refuses an answer that names another provider', async () => {
    const browser = createBrowser()
    const back = new URL(await agree(browser, await linkFor(theirs)))
    back.searchParams.set('iss', 'https://evil.example')
    const answer = await browser.get(back.href)
    assert.equal(answer.status, 400)
    assert.match(await answer.text(), /evil\.example/)
    assert.deepEqual(await stateOf(theirs), { state: 'none' })
  })
})

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
