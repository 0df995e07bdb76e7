import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { toPage } from '../../host/http/page.ts'
import { toConnectPage } from '../../host/oauth/connect-page.ts'
import { agreementTo } from '../support/agreement.ts'
import { type Annex, type Json, startAnnex, until } from '../support/annex.ts'
import { createBrowser } from '../support/browser.ts'
import { type OidcProvider, startOidcProvider } from '../support/oidc-provider.ts'

const script = (provider: string) => `
import { createIntegration, createOAuthHandler } from '@annex/runtime'
const connect = createOAuthHandler({
  clientId: 'annex', clientSecret: 'secret-of-the-client', scopes: ['openid', 'email'],
  authorizeURL: '${provider}/auth', accessTokenURL: '${provider}/token',
})
export default createIntegration({
  fetch: (request, context) => {
    const { pathname } = new URL(request.url)
    if (pathname.endsWith('/broken')) throw new Error('no address of a provider')
    return pathname.endsWith('/oauth') ? connect(request, context) : new Response('<p>Which region?</p>')
  },
})`

const button = (path: string) =>
  `{ type: button, title: Account, description: Go, button_text: Go, callback_url: ${path} }`
const properties = `
    properties:
      account: ${button('/oauth')}
      broken: ${button('/broken')}
      region: ${button('/region')}`
const more = `
configurations:
  account: ${properties}
  site: ${properties}`

const html = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }

describe('the page of a link that connects', () => {
  let annex: Annex
  let provider: OidcProvider
  let path: string
  let sitePath: string
  let member: string
  before(async () => {
    provider = await startOidcProvider()
    annex = await startAnnex({
      sandboxes: 'processes',
      plugins: { tracker: { script: script(provider.url), more } },
    })
    const { organization, site } = annex.server.samples
    const base = '/v1/integrations/tracker/installations'
    const { json } = await annex.api('POST', base, { organization, ...(await agreementTo(annex, 'tracker')) })
    path = `${base}/${json.id}`
    sitePath = `${path}/sites/${site}`
    assert.equal((await annex.api('POST', `${path}/sites`, { site })).status, 201)
    provider.register([`${annex.url}/x/tracker/oauth`])
    const members = `/v1/orgs/${organization}/members`
    const bea = { email: 'bea@home.example', name: 'Bea <script>', role: 'editor' }
    const made = await annex.api('POST', members, bea)
    assert.equal(made.status, 201, made.text)
    const token = await annex.api('POST', `/v1/orgs/${organization}/tokens`, { member: made.json.id })
    assert.equal(token.status, 201, token.text)
    member = token.json.token
  })
  after(async () => {
    await annex.close()
    provider.close()
  })

  const linkFor = async (setting = 'account', by?: string, at = path): Promise<string> => {
    const { status, json } = await annex.api('POST', `${at}/configuration/${setting}/connect`, undefined, by)
    assert.equal(status, 201)
    return json.url
  }
  const textOf = (page: string): string => page.replace(/<style>.*<\/style>/s, '').replace(/<[^>]+>/g, '')
  const assertUnused = async (link: string): Promise<void> => {
    const response = await createBrowser().press(link)
    assert.equal(response.status, 303, await response.text())
  }

  it('names provider, integration, organization and the maker, and escapes them', async () => {
    const response = await fetch(await linkFor('account', member), { headers: html })
    const page = await response.text()
    assert.equal(response.status, 200, page)
    const { host } = new URL(provider.url)
    const text = textOf(page)
    assert.match(text, new RegExp(`Connect your account of ${host} to tracker in Home`))
    assert.match(text, /Link made by Bea &lt;script&gt; \(bea@home\.example\)\./)
    assert.match(text, /Integrationtracker\s+Organizationhome/)
    assert.doesNotMatch(page, /<script|style="| on\w+=/)
  })

  it('names the site of a site, and an operator as one', async () => {
    const text = textOf(await (await fetch(await linkFor('account', undefined, sitePath))).text())
    assert.match(text, /SiteSample/i)
    assert.match(text, /Link made by an operator of this Annex \(token “[^”]+”\)\./)
  })

  it('cannot be framed or kept, loads nothing, and posts to its own address', async () => {
    const response = await fetch(await linkFor())
    const policy = response.headers.get('content-security-policy') ?? ''
    assert.match(
      policy,
      /^default-src 'none'; style-src 'sha256-[\w+/=]{44}'; img-src data:; base-uri 'none'; form-action 'self' http: https:; frame-ancestors 'none'$/,
    )
    assert.equal(response.headers.get('cache-control'), 'no-store')
    assert.equal(response.headers.get('referrer-policy'), 'same-origin')
    assert.equal(response.headers.get('set-cookie'), null)
    assert.match(await response.text(), /<form method="post"><button>/)
  })

  it('can be read, prefetched and previewed any number of times', async () => {
    const link = await linkFor()
    const readers: RequestInit[] = [
      { headers: html },
      { method: 'HEAD' },
      { headers: { 'sec-purpose': 'prefetch;prerender' } },
      { headers: { purpose: 'prefetch' } },
      { headers: { 'user-agent': 'Slackbot-LinkExpanding 1.0' } },
    ]
    for (const reader of [...readers, ...readers]) {
      assert.equal((await fetch(link, { ...reader, redirect: 'manual' })).status, 200)
    }
    await assertUnused(link)
  })

  it('continues only after a POST from its own page', async () => {
    const link = await linkFor()
    const { origin, port } = new URL(annex.url)
    const senders: Record<string, string>[] = [
      {},
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: '' },
      { origin: `${origin}.evil.example` },
      { origin: `http://127.0.0.1:${Number(port) + 1}` },
      { origin: `https://127.0.0.1:${port}` },
      { origin: `http://localhost:${port}` },
      { 'sec-fetch-site': 'same-origin' },
      { origin, 'sec-fetch-site': 'cross-site' },
      { origin, 'sec-fetch-site': 'same-site' },
      { origin, 'sec-fetch-site': 'none' },
      { referer: `${origin}/` },
    ]
    for (const headers of senders) {
      const response = await fetch(link, { method: 'POST', redirect: 'manual', headers })
      const answer: Json = await response.json()
      assert.deepEqual([response.status, answer.error.code], [403, 'flow_refused'], JSON.stringify(headers))
      assert.equal(response.headers.get('set-cookie'), null)
    }
    await assertUnused(link)
  })

  it('works once when three people press its button at the same time', async () => {
    const link = await linkFor()
    const answers = await Promise.all([1, 2, 3].map(() => createBrowser().press(link)))
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [303, 403, 403])
  })

  it('names no provider while the script shows its own page first', async () => {
    const text = textOf(await (await fetch(await linkFor('region'))).text())
    assert.match(text, /Connect your account to tracker in Home/)
  })

  it('shows an error when the script fails, and stays usable', async () => {
    const link = await linkFor('broken')
    const failed = await fetch(link, { headers: html })
    assert.equal(failed.status, 500)
    assert.match(textOf(await failed.text()), /The account was not connected.*script_failed/s)
    await assertUnused(link)
  })

  it('refuses links and callbacks with HTML for a browser and JSON for a program', async () => {
    const used = await linkFor()
    await assertUnused(used)
    const endpoint = `${annex.url}/x/tracker/${path.split('/').at(-1)}`
    const browser = createBrowser()
    const { next = '' } = await browser.follow(await linkFor(), /[?&]code=/)
    const refused = [
      [used, 403],
      [`${annex.url}/connect/${'A'.repeat(43)}`, 403],
      [`${annex.url}/connect/`, 404],
      // In another browser than that of the flow.
      [next, 403],
      [`${endpoint}/oauth?code=of-eve`, 403],
      [`${endpoint}/oauth?code=of-eve&state=annex-${'A'.repeat(43)}`, 403],
      [`${endpoint}/oauth?state=annex:connection:{}&x=<script>`, 403],
    ] as const
    for (const [url, status] of refused) {
      const page = await fetch(url, { headers: html })
      const text = await page.text()
      assert.equal(page.status, status, url)
      assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8', url)
      assert.match(
        page.headers.get('content-security-policy') ?? '',
        /form-action 'none'; frame-ancestors 'none'$/,
      )
      assert.equal(page.headers.get('cache-control'), 'no-store')
      assert.match(text, /The account was not connected/)
      assert.match(text, /req_[0-9a-f-]+/)
      assert.doesNotMatch(text, /<script/)
      for (const accept of [undefined, '*/*', 'application/json', 'application/json, text/html']) {
        const program = await fetch(url, { headers: accept === undefined ? {} : { accept } })
        const { error }: Json = await program.json()
        assert.deepEqual([program.status, typeof error.code], [status, 'string'], `${url} ${accept}`)
      }
    }
  })

  it('shows an HTML page when the provider refuses the connection', async () => {
    const browser = createBrowser()
    const { next = '' } = await browser.follow(await linkFor(), /\/auth\?/)
    const state = new URL(next).searchParams.get('state') ?? ''
    const back = `${annex.url}/x/tracker/oauth?error=access_denied&state=${state}`
    const cookie = browser.cookiesFor(back)
    const answer = await fetch(back, { headers: { ...html, cookie } })
    assert.equal(answer.status, 400)
    assert.match(textOf(await answer.text()), /The provider refused the connection: access_denied/)
  })

  it('leaves the other errors of a script as JSON, even for a browser', async () => {
    const answer = await fetch(`${annex.url}/x/nothing`, { headers: html })
    assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8')
  })

  it('leaves audit entries with the maker of the link and the connected account', async () => {
    const { response } = await createBrowser({ as: 'bea' }).follow(await linkFor('account', member))
    assert.equal(response.status, 200)
    const lines = await until(
      async () => (await annex.api('GET', '/v1/audit')).json.items,
      (items) => items.some(({ action }: Json) => action === 'connection.create'),
    )
    const [made, link] = ['connection.create', 'connection.link'].map((action) =>
      lines.find((line: Json) => line.action === action),
    )
    assert.equal(link.actor.kind, 'person')
    assert.deepEqual(made.actor, link.actor)
    assert.equal(made.subject.id, path.split('/').at(-1))
    assert.deepEqual(made.after.connections, ['account'])
    assert.equal(made.after.account, 'bea@example.com')
    assert.equal(made.after.flow, link.after.flow)
    assert.doesNotMatch(JSON.stringify(lines), /access_token|refresh_token/)
  })
})

describe('the names on the page of a link', () => {
  const render = (name: string) =>
    toPage(
      toConnectPage({
        provider: 'provider.example',
        integration: { title: name, name: 'tracker' },
        organization: { title: name, subdomain: 'home' },
        place: { kind: 'site', title: name },
        maker: name,
      }),
    )

  it('are escaped, of one length and one direction, and hide no character', () => {
    assert.doesNotMatch(render('"><script>alert(1)</script>').replace(/<style>.*<\/style>/s, ''), /<script/)
    const reversed = render('Ac\u202eme\u2066')
    assert.doesNotMatch(reversed, /[\u202e\u2066]/)
    assert.match(reversed, /<bdi>Ac\\u\{202e\}me\\u\{2066\}<\/bdi>/)
    assert.match(render('\u200b\u200d'), /<bdi>\\u\{200b\}\\u\{200d\}<\/bdi>/)
    assert.match(render('x'.repeat(200)), /<bdi>x{60}…<\/bdi>/)
    assert.match(render('שלום עולם'), /<bdi>שלום עולם<\/bdi>/)
    assert.match(render('👩‍🚀'.repeat(50)), /…<\/bdi>/)
    assert.match(render('line\nbreak'), /<bdi>line\\x0abreak<\/bdi>/)
  })
})
