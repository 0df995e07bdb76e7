// tier: console (it opens ten tabs of a browser)
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { installSample, until } from '../support/annex.ts'
import { skipWithoutChromium } from '../support/chromium.ts'
import { type OpenConsole, openConsole } from '../support/console.ts'
import { owe, senderPlugin, watchDeliveries } from '../support/sender.ts'

const feedPath = '/v1/deliveries/feed'
/** As many readers as one organization, or all operators, may have. */
const mostReaders = 32

describe('the stream of deliveries of a browser', { skip: skipWithoutChromium() }, () => {
  const ends = new AsyncDisposableStack()
  let opened: OpenConsole
  let endpoint: string
  let url: string
  before(async () => {
    opened = await openConsole({ plugins: { sender: senderPlugin } })
    ends.defer(opened.close)
    ;({ endpoint } = await installSample(opened.annex, 'sender'))
    ;({ url } = await receive(200))
    await owe(endpoint, { url, type: 'first' })
  })
  after(() => ends.disposeAsync())

  const { receive } = watchDeliveries(ends, () => opened.annex.api)

  /** Tabs of one browser that show deliveries, and the pages that have asked for the feed, in order. */
  async function openTabs(count: number, prepare?: string) {
    const { context, page } = await opened.asOperator()
    if (prepare !== undefined) await context.addInitScript(prepare)
    const readers: Page[] = []
    context.on('request', (request) => {
      if (new URL(request.url()).pathname === feedPath) readers.push(request.frame().page())
    })
    const pages = [page]
    while (pages.length < count) pages.push(await context.newPage())
    for (const one of pages) {
      await one.goto('/orgs/home/deliveries')
      await one.locator('main tbody tr').first().waitFor()
    }
    return { context, pages, readers }
  }

  const showsNew = (page: Page, count: number) =>
    page.getByRole('button', { name: `Show ${count} new` }).waitFor({ timeout: 30_000 })
  const setVisible = (page: Page, state: 'visible' | 'hidden') =>
    page.evaluate(
      `Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
       document.dispatchEvent(new Event('visibilitychange'))`,
    )

  it('is shared by ten tabs, and another tab takes it over from one that is hidden or closed', async () => {
    const { context, pages, readers } = await openTabs(10)
    await until(
      async () => readers.length,
      (count) => count > 0,
      20,
    )
    await owe(endpoint, { url, type: 'second' })
    for (const page of pages) await showsNew(page, 1)
    assert.equal(readers.length, 1)
    const [first] = readers
    assert.ok(first)
    await setVisible(first, 'hidden')
    await until(
      async () => readers.length,
      (count) => count === 2,
      20,
    )
    const second = readers[1] ?? assert.fail('no second reader')
    assert.notEqual(second, first)
    await second.close()
    await until(
      async () => readers.length,
      (count) => count === 3,
      20,
    )
    await owe(endpoint, { url, type: 'third' })
    for (const page of pages) if (page !== first && page !== second) await showsNew(page, 2)
    assert.equal(await first.getByRole('button', { name: 'Show 2 new' }).count(), 0)
    await setVisible(first, 'visible')
    await showsNew(first, 2)
    assert.equal(readers.length, 3)
    await context.close()
  })

  it('is replaced by polling where a browser has no locks, as on http', async () => {
    const { context, pages, readers } = await openTabs(2, 'delete Navigator.prototype.locks')
    await owe(endpoint, { url, type: 'fourth' })
    for (const page of pages) await showsNew(page, 1)
    assert.deepEqual(readers, [])
    await context.close()
  })

  it('is replaced by polling while it has too many readers', async () => {
    const token = (await opened.annex.api('POST', '/v1/tokens', {})).json.token
    const leaving = new AbortController()
    // `fetch` cancels the body of a response that is collected.
    const kept: Response[] = []
    const statuses = async () => {
      const answers = Array.from({ length: mostReaders }, () =>
        fetch(opened.annex.url + feedPath, {
          headers: { authorization: `Bearer ${token}` },
          signal: leaving.signal,
        }),
      )
      kept.push(...(await Promise.all(answers)))
      return kept.slice(-mostReaders).map(({ status }) => status)
    }
    // Readers of the test before may not have left yet.
    await until(statuses, (all) => all.includes(503), 20)
    const { context, pages, readers } = await openTabs(2)
    await owe(endpoint, { url, type: 'fifth' })
    for (const page of pages) await showsNew(page, 1)
    const answer = await context.waitForEvent('response', (response) => response.url().includes(feedPath))
    assert.equal(answer.status(), 503)
    leaving.abort()
    const followed = (response: { url: () => string; status: () => number }) =>
      response.url().includes(feedPath) && response.status() === 200
    await context.waitForEvent('response', followed)
    assert.equal(new Set(readers).size, 1)
    await context.close()
  })
})
