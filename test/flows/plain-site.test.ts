import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createContext, runInContext } from 'node:vm'
import { verifyWebhook } from '../../host/webhooks/signature.ts'
import { type Annex, installSample, type Json, startAnnex, until } from '../support/annex.ts'
import { startReceiver } from '../support/receiver.ts'

const pluginsDir = fileURLToPath(new URL('../../plugins', import.meta.url))
const agent = 'Mozilla/5.0 (of a test)'

/** Opens a page as a browser does: loads its scripts, and runs them with the page's address, over real HTTP. */
async function openPage(url: string, cookie?: () => string): Promise<Json> {
  const html = await (await fetch(url)).text()
  const sources = [...html.matchAll(/<script src="([^"]+)"/g)].map((match) => match[1] ?? '')
  const addEventListener = () => {}
  const page = createContext({
    ...{
      navigator: {},
      history: { pushState() {}, replaceState() {} },
      addEventListener,
      window: { addEventListener },
    },
    location: new URL(url),
    document: {
      referrer: 'https://www.example.com/search',
      get cookie() {
        assert.ok(cookie, 'the script read cookies')
        return cookie()
      },
    },
    fetch: (to: string, { headers = {}, ...init }: RequestInit) => {
      const sent = { 'content-type': 'text/plain', ...headers, origin: new URL(url).origin }
      return fetch(to, { ...init, headers: { ...sent, 'user-agent': agent, 'accept-language': 'de, en' } })
    },
  })
  for (const source of sources) {
    const response = await fetch(source)
    assert.match(response.headers.get('content-type') ?? '', /javascript/)
    runInContext(await response.text(), page)
  }
  return page
}

describe('a page of a plain HTML site', () => {
  let annex: Annex
  let receiver: Awaited<ReturnType<typeof startReceiver>>
  let site: Server
  let siteUrl: string
  let html = ''
  let secret: string
  before(async () => {
    annex = await startAnnex({ pluginsDir })
    receiver = await startReceiver(200)
    site = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html')
      response.end(`<!doctype html><title>Start</title>${html}<h1>Start</h1>`)
    }).listen(0, '127.0.0.1')
    await new Promise((resolve) => site.once('listening', resolve))
    siteUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
    const settings = { webhook_url: receiver.url, site_view: true, page_feedback: true }
    secret = (await installSample(annex, 'webhook', 'site', settings)).secret
    const path = `/v1/orgs/home/sites/${annex.server.samples.site}/script`
    const script = await annex.api('PUT', path, { origins: [siteUrl] })
    assert.equal(script.status, 200, script.text)
    html = script.json.html
  })
  after(async () => {
    await annex.close()
    await receiver.close()
    site.close()
  })

  it('includes one script, and its view becomes a signed delivery', async () => {
    await openPage(`${siteUrl}/guides/start?lang=en#top`)
    const [delivery] = await receiver.waitFor(1)
    assert.ok(delivery)
    const signature = String(delivery.headers['x-service-signature'])
    const verified = verifyWebhook(signature, delivery.body, secret, {
      nowSeconds: Date.now() / 1000,
    })
    assert.deepEqual(verified, { valid: true })
    const event: Json = JSON.parse(delivery.body)
    assert.deepEqual(
      [event.type, event.siteId, event.url, event.referrer],
      [
        'site_view',
        annex.server.samples.site,
        `${siteUrl}/guides/start?lang=en#top`,
        'https://www.example.com/search',
      ],
    )
    const { anonymousId, ...visitor } = event.visitor
    assert.deepEqual(visitor, { userAgent: agent, ip: '127.0.0.1', cookies: {}, language: 'de' })
    assert.match(anonymousId, /^[\w-]{22}$/)
  })

  it('sends feedback, and a view for each page that a site shows without a load', async () => {
    const page = await openPage(`${siteUrl}/one`)
    page.location = new URL(`${siteUrl}/two`)
    runInContext('annex.view(); annex.view(); annex.feedback("good", "Clear.")', page)
    const bodies = async (): Promise<Json[]> => receiver.received.map(({ body }) => JSON.parse(body))
    const all = await until(bodies, (events) => events.length >= 4)
    assert.deepEqual(all.map(({ type, url }) => `${type} ${new URL(url).pathname}`).sort(), [
      'page_feedback /two',
      'site_view /guides/start',
      'site_view /one',
      'site_view /two',
    ])
    const { feedback, pageId } = all.find(({ type }) => type === 'page_feedback')
    assert.deepEqual([feedback, pageId], [{ rating: 'good', comment: 'Clear.' }, '/two'])
  })

  it('is counted by day and by address', async () => {
    const path = `/v1/orgs/home/sites/${annex.server.samples.site}/views`
    const views = await annex.api('GET', `${path}?limit=2`)
    assert.equal(views.json.items.length, 2)
    const rest = await annex.api('GET', `${path}?limit=2&page=${views.json.next.page}`)
    const urls = [...views.json.items, ...rest.json.items].map(({ url }: Json) => new URL(url).pathname)
    assert.deepEqual(urls, ['/two', '/one', '/guides/start'])
    const day = await annex.api('GET', `${path}/counts`)
    assert.deepEqual(day.json.items, [{ day: new Date().toISOString().slice(0, 10), views: 3, visitors: 1 }])
    const byUrl = await annex.api('GET', `${path}/counts?by=url&limit=2`)
    assert.deepEqual(byUrl.json.items[0], {
      url: `${siteUrl}/guides/start?lang=en#top`,
      views: 1,
      visitors: 1,
    })
    const past = await annex.api('GET', `${path}/counts?to=2020-01-01T00:00:00Z`)
    assert.deepEqual(past.json, { items: [], count: 0 })
  })

  it('sends the cookies that the site names, as the browser stores them', async () => {
    const path = `/v1/orgs/home/sites/${annex.server.samples.site}/script`
    await annex.api('PUT', path, { cookies: ['consent', '__proto__', 'long', "it's.`$"] })
    const cookiesOf = async (page: string, cookie: () => string): Promise<Json> => {
      await openPage(`${siteUrl}/${page}`, cookie)
      const find = async () =>
        receiver.received.map(({ body }) => JSON.parse(body)).find(({ url }) => url.endsWith(page))
      return (await until(find, (event) => event !== undefined)).visitor.cookies
    }
    const nearest = `consent=near%20; session=s; consent=far; it's.\`$=a=b; long=${'x'.repeat(4097)}`
    assert.deepEqual(await cookiesOf('named', () => nearest), { consent: 'near%20', "it's.`$": 'a=b' })
    assert.deepEqual(
      Object.entries(await cookiesOf('proto', () => '__proto__=p; consent=')),
      Object.entries(JSON.parse('{"consent":"","__proto__":"p"}')),
    )
    assert.deepEqual(await cookiesOf('without-names', () => 'consent; =consent; x'), {})
    assert.deepEqual(await cookiesOf('without-cookies', () => ''), {})
    const refused = () => {
      throw new Error('SecurityError: the document is sandboxed')
    }
    assert.deepEqual(await cookiesOf('sandboxed', refused), {})
    runInContext('annex.feedback("bad")', await openPage(`${siteUrl}/rated`, () => 'consent=yes'))
    const bodies = async (): Promise<Json[]> => receiver.received.map(({ body }) => JSON.parse(body))
    const isRated = ({ type, url }: Json) => type === 'page_feedback' && url.endsWith('/rated')
    const rated = (await until(bodies, (events) => events.some(isRated))).find(isRated)
    assert.deepEqual(rated.visitor.cookies, {})
  })
})
