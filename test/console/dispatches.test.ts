// tier: console (it follows the records in a browser)
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { installSample, type Json, until } from '../support/annex.ts'
import { findBarriers, overflowOf } from '../support/axe.ts'
import { skipWithoutChromium } from '../support/chromium.ts'
import { type OpenConsole, openConsole, type Tab } from '../support/console.ts'

const script = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: async (request, { environment, integration }) => {
    const { asked = [], say, fail } = await request.json()
    if (say) console.log(say)
    for (const { url, path } of asked) {
      const headers = path && { authorization: 'Bearer ' + environment.apiTokens.installation }
      await fetch(url ?? environment.apiEndpoint + path, { headers }).then((answer) => answer.text(), () => {})
    }
    if (fail) throw new Error('The shop has no product ' + fail)
    return new Response('done')
  },
  events: { site_view: async (event, { environment, integration }) => {
    const { hook } = environment.siteInstallation.configuration
    console.log('a visitor came')
    await fetch(hook + '/stock/items?key=1')
    await integration.queueDelivery({ url: hook + '/hook', event: { type: 'seen' } })
  } },
})`
const settings = {
  site: { properties: { hook: { type: 'string', title: 'Hook', description: 'An address.' } } },
}

describe('the dispatches in the console', { skip: skipWithoutChromium() }, () => {
  let opened: OpenConsole
  let server: Server
  let tab: Tab
  let installed: { id: string; endpoint: string }
  let origin = ''
  const here = '/orgs/home/dispatches'

  before(async () => {
    server = createServer((request, response) => {
      if (request.url === '/away') response.writeHead(302, { location: '/target' }).end()
      else response.writeHead(request.url === '/missing' ? 404 : 200).end('fine')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const more = `configurations: ${JSON.stringify(settings)}`
    opened = await openConsole({ plugins: { shop: { script, scopes: ['site:views:read'], more } } })
    const { annex } = opened
    installed = await installSample(annex, 'shop', 'site', { hook: origin })
    await annex.api('POST', '/v1/events?organization=home', {
      type: 'site_view',
      siteId: annex.server.samples.site,
      visitor: { anonymousId: 'a', userAgent: 'b', ip: '203.0.113.7', cookies: {} },
      url: 'https://docs.example.com/',
    })
    await until(
      () => annex.client.call('GET /v1/deliveries'),
      ({ items }) => items[0]?.state === 'delivered',
    )
    await annex.api('POST', '/v1/orgs', { subdomain: 'other', title: 'Other' })
    tab = await opened.asOperator()
  })
  after(async () => {
    await opened?.close()
    server.close()
    server.closeAllConnections()
  })

  const ask = async (body: object): Promise<string> => {
    const response = await fetch(installed.endpoint, { method: 'POST', body: JSON.stringify(body) })
    await response.text()
    return response.headers.get('x-request-id') ?? ''
  }
  /** A receipt comes a moment after the answer. */
  const stored = (id: string) =>
    until(
      () => opened.annex.api('GET', `/v1/receipts?request=${id}`),
      ({ json }: Json) => json.count === 1,
    )
  /** In a process of its own: a second SQLite of this one would release the locks of the first. */
  const changeDatabase = (sql: string) => {
    const file = join(opened.annex.dataDir, 'annex.sqlite')
    const code =
      'new (require("node:sqlite").DatabaseSync)(process.argv[1], { timeout: 5_000 }).exec(process.argv[2])'
    execFileSync(process.execPath, ['-e', code, file, sql])
  }
  const shows = (one: Tab, text: RegExp) =>
    until(
      async () => (await one.page.locator('main').allInnerTexts()).join(''),
      (shown) => text.test(shown),
      20,
    )
  const follow = async (name: string | RegExp) => {
    await tab.page.locator('main').getByRole('link', { name }).first().click()
  }

  it('lead from a delivery to its dispatch, and from there to the requests, the log, and back', async () => {
    await tab.goto('/orgs/home/deliveries')
    await follow('seen')
    await follow('Its dispatch')
    await shows(tab, /Dispatch of site_view[\s\S]*Handled/)
    const text = await shows(tab, /a visitor came/)
    assert.match(text, /The event site_view\s+evt_/)
    assert.match(text, /GET 127\.0\.0\.1:\d+\/stock\/items\s+200\s+[\d.]+ ms/)
    assert.match(text, /1 delivery, 0 tasks/)
    assert.doesNotMatch(text, /key=1/)
    await follow('seen')
    await shows(tab, /Delivery of seen/)
    await follow('All runs')
    await shows(tab, /Runs of one event[\s\S]*site_view\s+shop/)
    assert.equal(await tab.page.locator('tbody tr').count(), 1)
    await follow('shop')
    await follow('Activity')
    await follow('site_view')
    await shows(tab, /Dispatch of site_view/)
    assert.deepEqual([tab.said, tab.refused], [[], []])
  })

  it('show first why a script failed, with the line of its author', async () => {
    const id = await ask({
      fail: 'nr-12',
      say: '<img src=x onerror=alert(1)>',
      asked: [
        { url: `${origin}/away` },
        { url: `${origin}/missing` },
        { url: 'http://10.0.0.1/<script>alert(1)</script>' },
        { path: `/v1/installations/${installed.id}` },
      ],
    })
    await stored(id)
    await tab.goto(`${here}/${id}`)
    await shows(tab, /Script error/)
    const note = (await tab.page.locator('main .note').allInnerTexts()).join('')
    assert.match(note, /The shop has no product nr-12[\s\S]*index\.ts:\d+:\d+/)
    const rows = await tab.page.locator('section[aria-label="Outbound requests"] tbody tr').allInnerTexts()
    const host = new URL(origin).host
    const expected = [
      `GET ${host}/away\\s+302`,
      `GET ${host}/target\\s+200`,
      `GET ${host}/missing\\s+404`,
      'GET 10\\.0\\.0\\.1/%3Cscript%3E\\S*\\s+The address 10\\.0\\.0\\.1 is not public',
      `GET /v1/installations/${installed.id}\\s+Annex API\\s+(200|403)`,
    ]
    assert.equal(rows.length, expected.length)
    for (const [at, row] of rows.entries()) assert.match(row, new RegExp(`^${expected[at]}`))
    assert.match(await shows(tab, /onerror/), /<img src=x onerror=alert\(1\)>/)
    assert.deepEqual([tab.said, tab.refused], [[], []])
  })

  it('are a list with filters and pages in its address, where new rows wait', async () => {
    // Of more than 50 between two flushes some receipts are dropped.
    for (let n = 0; n < 210; n += 1) {
      await ask({})
      if (n % 40 === 0) await opened.annex.api('GET', '/v1/receipts?limit=1')
    }
    await tab.goto(here)
    await follow('Older')
    await tab.page.waitForURL(/page=/)
    const second = tab.page.url()
    await shows(tab, /Newest\s+Older/)
    await follow('Older')
    await shows(tab, /Newest\s+Newer/)
    await follow('Newer')
    await tab.page.waitForURL(second)
    await follow('Newest')
    await tab.page.waitForURL(`**${here}`)
    await shows(tab, /\sOlder/)
    assert.equal(await tab.page.locator('tbody tr').count(), 100)
    await ask({})
    await tab.page.getByRole('button', { name: 'Show 1 new' }).click()
    await tab.page.getByLabel('Outcome').selectOption('failed')
    await tab.page.waitForURL(/outcome=failed/)
    await shows(tab, /Script error/)
    assert.doesNotMatch(await shows(tab, /Script error/), /a request\s+shop[\s\S]*Handled\n/)
    await tab.page.getByLabel('Type').fill('task')
    await tab.page.getByLabel('Type').press('Enter')
    await shows(tab, /Nothing matches this filter/)
    await tab.page.getByRole('button', { name: 'Clear the filter' }).first().click()
    await shows(tab, /Handled/)
    assert.deepEqual([tab.said, tab.refused], [[], []])
  })

  it('say what is not kept', async () => {
    await tab.goto(`${here}/req_none`)
    await shows(tab, /Annex keeps nothing of this dispatch/)
    // A dispatch whose receipt has given way to others still has its log.
    const id = await ask({ say: 'the line stays' })
    await until(
      () => opened.annex.api('GET', `/v1/logs?request=${id}`),
      ({ json }: Json) => json.count === 1,
    )
    await stored(id)
    changeDatabase(`delete from receipts where request_id = '${id}'`)
    await tab.goto(`${here}/${id}`)
    await shows(tab, /Annex keeps no receipt of this dispatch[\s\S]*the line stays/)
    assert.deepEqual([tab.said, tab.refused], [[], []])
  })

  it('are shown each where a request had several', async () => {
    const id = await ask({ say: 'one line', asked: [{ url: `${origin}/ok` }] })
    await stored(id)
    changeDatabase(
      `create temp table again as select * from receipts where request_id = '${id}';
       update again set id = null, outcome = 'cpu_limit'; insert into receipts select * from again`,
    )
    await tab.goto(`${here}/${id}`)
    const text = await shows(tab, /Dispatch 2 of 2 of this request/)
    assert.match(
      text,
      /^[\s\S]*CPU limit[\s\S]*Dispatch 1 of 2[\s\S]*Handled[\s\S]*Dispatch 2 of 2[\s\S]*CPU limit/,
    )
    assert.equal(text.match(/\/ok\s+200/g)?.length, 2)
    assert.equal(text.match(/one line/g)?.length, 1)
  })

  it('are hidden from another organization, also under its own address', async () => {
    const id = await ask({ say: 'a line of home', asked: [{ url: `${origin}/ok` }] })
    const stranger = await opened.asMember('other', 'admin')
    for (const [path, text] of [
      [`${here}/${id}`, /Annex|organization/],
      [`/orgs/other/dispatches/${id}`, /Annex keeps nothing of this dispatch/],
      ['/orgs/other/dispatches', /No dispatch yet/],
    ] as const) {
      await stranger.goto(path)
      assert.doesNotMatch(await shows(stranger, text), /shop|a line of home|\/ok/)
    }
    await stranger.close()
  })

  for (const [colorScheme, width] of [
    ['light', 1280],
    ['dark', 375],
  ] as const) {
    it(`have no barrier and no overflow at ${width} px, ${colorScheme}`, async () => {
      const reader = await opened.asMember('home', 'reader', { colorScheme, width })
      const id = await ask({
        fail: 'x',
        say: 'y'.repeat(300),
        asked: [{ url: `${origin}/${'z'.repeat(190)}` }],
      })
      await stored(id)
      const paths = [`${here}?outcome=failed`, `${here}?event=evt_none`, `${here}/${id}`]
      for (const path of [...paths, `/orgs/home/installations/${installed.id}/activity`]) {
        await reader.goto(path)
        await shows(reader, /Annex keeps|Nothing matches|It queued no delivery/)
        assert.deepEqual(await findBarriers(reader.page), [], path)
        assert.ok((await overflowOf(reader.page)) <= 0, `${path} is wider than the window`)
      }
      assert.deepEqual([reader.said, reader.refused], [[], []])
      await reader.close()
    })
  }
})
