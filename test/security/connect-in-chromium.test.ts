import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import type { Browser, BrowserContextOptions } from 'playwright-core'
import { toPage } from '../../host/http/page.ts'
import { toConnectPage } from '../../host/oauth/connect-page.ts'
import { agreementTo } from '../support/agreement.ts'
import { type Annex, startAnnex } from '../support/annex.ts'
import { skipWithoutChromium, startChromium } from '../support/chromium.ts'
import { type OidcProvider, startOidcProvider } from '../support/oidc-provider.ts'

const script = (provider: string) => `
import { createIntegration, createOAuthHandler } from '@annex/runtime'
const connect = createOAuthHandler({
  clientId: 'annex', clientSecret: 'secret-of-the-client', scopes: ['openid', 'email'], pkce: true,
  authorizeURL: '${provider}/auth', accessTokenURL: '${provider}/token',
})
export default createIntegration({ fetch: (request, context) => connect(request, context) })`

const more = `
configurations:
  account:
    properties:
      account: { type: button, title: Account, description: Go, button_text: Go, callback_url: /oauth }`

const skip = skipWithoutChromium('whole')

describe('a connect link in Chromium', { skip }, () => {
  let annex: Annex
  let provider: OidcProvider
  let chromium: Browser
  let path: string
  /** A page of another site: `localhost` is another site than 127.0.0.1. */
  let stranger: { url: string; show: (html: string) => void; close: () => void }
  before(async () => {
    provider = await startOidcProvider()
    annex = await startAnnex({
      plugins: { tracker: { script: script(provider.url), more } },
    })
    const base = '/v1/integrations/tracker/installations'
    const { json } = await annex.api('POST', base, {
      organization: annex.server.samples.organization,
      ...(await agreementTo(annex, 'tracker')),
    })
    path = `${base}/${json.id}`
    provider.register([`${annex.url}/x/tracker/oauth`])
    stranger = await startStranger()
    chromium = await startChromium('whole')
  })
  after(async () => {
    await chromium?.close()
    stranger?.close()
    await annex.close()
    provider.close()
  })

  const linkFor = async (): Promise<string> =>
    (await annex.api('POST', `${path}/configuration/account/connect`)).json.url
  const stateOf = async (): Promise<string> => (await annex.api('GET', path)).json.connections.account.state
  const disconnect = () => annex.api('DELETE', `${path}/configuration/account`)

  async function withPage(
    use: (page: Awaited<ReturnType<Browser['newPage']>>) => Promise<void>,
    options: BrowserContextOptions = {},
  ): Promise<void> {
    const context = await chromium.newContext(options)
    try {
      await use(await context.newPage())
    } finally {
      await context.close()
    }
  }

  it('leads by its button to the provider, and back with the account', async () => {
    await withPage(async (page) => {
      const refused: string[] = []
      page.on('console', (message) => refused.push(message.text()))
      await page.goto(await linkFor())
      assert.equal(
        await page.locator('h2').textContent(),
        `Connect your account of ${new URL(provider.url).host} to tracker in Home`,
      )
      assert.equal(await stateOf(), 'none')
      await page.getByRole('button').click()
      await page.getByText('The connection is set up').waitFor()
      assert.deepEqual(
        refused.filter((text) => /policy/i.test(text)),
        [],
      )
    })
    assert.equal(await stateOf(), 'connected')
    await disconnect()
  })

  it("fails under a form-action of 'self' alone, as Chromium checks redirects", async () => {
    const link = await linkFor()
    await withPage(async (page) => {
      await page.route(link, async (route) => {
        if (route.request().method() !== 'GET') return route.continue()
        const response = await route.fetch()
        const policy = response.headers()['content-security-policy'] ?? ''
        assert.match(policy, /form-action 'self' http: https:/)
        const narrow = policy.replace("form-action 'self' http: https:", "form-action 'self'")
        await route.fulfill({
          response,
          headers: { ...response.headers(), 'content-security-policy': narrow },
        })
      })
      const refused = page.waitForEvent('console', (message) => /form-action/.test(message.text()))
      await page.goto(link)
      await page.getByRole('button').click()
      assert.match((await refused).text(), /violates the following Content Security Policy directive/)
    })
    assert.equal(await stateOf(), 'none')
  })

  it('works without JavaScript', async () => {
    await withPage(
      async (page) => {
        await page.goto(await linkFor())
        await page.getByRole('button').click()
        await page.getByText('The connection is set up').waitFor()
      },
      { javaScriptEnabled: false },
    )
    await disconnect()
  })

  it('stays empty in a frame of another site', async () => {
    const link = await linkFor()
    await withPage(async (page) => {
      stranger.show(`<iframe src="${link}"></iframe>`)
      await page.goto(stranger.url)
      await page.waitForLoadState('networkidle')
      const inner = page.frames().find((frame) => frame !== page.mainFrame())
      assert.equal(await inner?.getByRole('button').count(), 0)
    })
    assert.equal((await fetch(link)).status, 200)
  })

  for (const [name, attack] of [
    [
      'a form',
      (link: string) =>
        `<form method="post" action="${link}"></form><script>document.forms[0].submit()</script>`,
    ],
    [
      'a form of a sandboxed frame',
      (link: string) =>
        `<iframe sandbox="allow-forms allow-scripts allow-top-navigation" srcdoc="<form method=post target=_top action=${link}></form><script>document.forms[0].submit()</script>"></iframe>`,
    ],
    [
      'a request of a script',
      (link: string) =>
        `<script>fetch('${link}', { method: 'POST', mode: 'no-cors', credentials: 'include' }).then(() => { location = '${link}' })</script>`,
    ],
    ['a redirect', (link: string) => `<script>location = '${link}'</script>`],
    [
      'a fetch ahead',
      (link: string) =>
        `<link rel="prefetch" href="${link}"><script type="speculationrules">{"prerender":[{"urls":["${link}"]}]}</script><script>setTimeout(() => { location = '${link}' }, 500)</script>`,
    ],
  ] as const) {
    it(`stays unused when ${name} of a stranger opens it`, async () => {
      const link = await linkFor()
      await withPage(async (page) => {
        stranger.show(attack(link))
        await page.goto(stranger.url)
        await page.waitForURL(link)
        await page.waitForLoadState()
        assert.equal((await page.context().cookies()).filter(({ name }) => /flow/.test(name)).length, 0)
      })
      assert.equal(await stateOf(), 'none')
      assert.equal((await fetch(link)).status, 200, 'the link still shows its page')
    })
  }

  it('says when it was used before', async () => {
    const link = await linkFor()
    await withPage(async (page) => {
      await page.goto(link)
      await page.getByRole('button').click()
      await page.getByText('The connection is set up').waitFor()
      await page.goto(link)
      assert.match(
        (await page.locator('main').textContent()) ?? '',
        /not connected\s.*This link was opened before/s,
      )
    })
    await disconnect()
  })

  const long = 'A very long name that goes on and on, so that the maker would be out of sight '.repeat(3)
  const names = [
    'Tracker',
    long,
    'x'.repeat(200),
    'שלום \u202egnihtemos',
    '<script>alert(1)</script>',
    '\u200b\u200d',
    '',
  ]
  for (const [width, colorScheme] of [
    [375, 'light'],
    [375, 'dark'],
    [1280, 'light'],
    [1280, 'dark'],
  ] as const) {
    it(`is readable at ${width} pixels, ${colorScheme}, with odd names`, async () => {
      await withPage(
        async (page) => {
          for (const [index, name] of names.entries()) {
            const question = {
              provider: 'accounts.provider.example',
              integration: { title: name, name: 'tracker' },
              organization: { title: name, subdomain: 'acme' },
              place: { kind: 'site', title: name } as const,
              maker: `${name.slice(0, 60)} (ada@acme.example)`,
            }
            await page.setContent(toPage(toConnectPage(question)))
            const shots = process.env.CONNECT_SHOTS
            if (shots)
              await page.screenshot({ path: `${shots}/${width}-${colorScheme}-${index}.png`, fullPage: true })
            const wide = await page.evaluate<number>('document.documentElement.scrollWidth')
            const box = await page.getByRole('button').boundingBox()
            assert.ok(box !== null && wide <= width && box.x + box.width <= width)
            assert.ok(box.y + box.height < 1200, 'the button is near the names')
            assert.equal(await page.locator('main script').count(), 0)
            assert.ok(await page.getByText('ada@acme.example').isVisible())
          }
        },
        { viewport: { width, height: 900 }, colorScheme },
      )
    })
  }
})

async function startStranger() {
  let shown = ''
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end(shown)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}/`,
    show(html: string) {
      shown = html
    },
    close: () => server.close(),
  }
}
