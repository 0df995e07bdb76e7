import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { type Annex, type Json, startAnnex, until } from '../support/annex.ts'
import { skipWithoutChromium, startChromium } from '../support/chromium.ts'

/** A browser without the Navigation API. A page may have an element with that id. */
const withoutNavigation = `delete window.navigation; delete Window.prototype.navigation`
const withGpc = `Object.defineProperty(Navigator.prototype, 'globalPrivacyControl', { get: () => true })`

describe('the script of a site in Chromium', { skip: skipWithoutChromium('whole') }, () => {
  let annex: Annex
  let chromium: Browser
  let pages: Server
  let siteUrl: string
  let elsewhere: string
  let path: string
  let script: string
  before(async () => {
    annex = await startAnnex()
    pages = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html')
      const links = ['/a', '/b', '/c'].map((to) => `<a id="${to.slice(1)}" href="${to}">${to}</a>`).join(' ')
      response.end(`<!doctype html>${script}<nav id="navigation">${links}</nav>`)
    }).listen(0, '127.0.0.1')
    await once(pages, 'listening')
    const { port } = pages.address() as AddressInfo
    siteUrl = `http://127.0.0.1:${port}`
    elsewhere = `http://localhost:${port}`
    const base = '/v1/orgs/home/sites'
    const { id } = (await annex.api('POST', base, { slug: 'docs', title: 'Docs' })).json
    script = (await annex.api('PUT', `${base}/${id}/script`, { origins: [siteUrl] })).json.html
    path = `${base}/${id}/views`
    chromium = await startChromium('whole')
  })
  after(async () => {
    await chromium?.close()
    pages?.closeAllConnections()
    pages?.close()
    await annex.close()
  })

  /** Views as `page <- page before`, the oldest first. */
  const read = async (): Promise<string[]> => {
    const { items } = (await annex.api('GET', `${path}?limit=1000`)).json
    const short = (url: string) => url.replace(siteUrl, '').replace(`${elsewhere}/`, 'elsewhere')
    return items.map(({ url, referrer }: Json) => `${short(url)} <- ${short(referrer)}`).reverse()
  }

  /** Each visitor begins on /a. */
  async function visit(
    steps: (page: Page, seen: (count: number) => Promise<string[]>) => Promise<void>,
    init: string | undefined,
  ) {
    const context = await chromium.newContext()
    try {
      const page = await context.newPage()
      if (init !== undefined) await page.addInitScript(init)
      const begun = (await read()).length
      await page.goto(`${siteUrl}/a`)
      await steps(page, async (count) => {
        const all = await until(read, (views) => views.length >= begun + count)
        return all.slice(begun)
      })
      // A view that comes late would be one too many.
      const settled = (await read()).length
      await new Promise((resolve) => setTimeout(resolve, 300))
      assert.equal((await read()).length, settled)
    } finally {
      await context.close()
    }
  }

  for (const [browser, init] of [
    ['with the Navigation API', undefined],
    ['without the Navigation API', withoutNavigation],
  ] as const) {
    it(`${browser} counts each loaded page with the previous page`, async () => {
      await visit(async (page, seen) => {
        assert.equal(
          await page.evaluate('typeof navigation?.navigate'),
          browser.startsWith('without') ? 'undefined' : 'function',
        )
        assert.deepEqual(await seen(1), ['/a <- '])
        await page.click('#b')
        assert.deepEqual((await seen(2))[1], '/b <- /a')
        await page.reload()
        assert.deepEqual((await seen(3))[2], '/b <- /a')
      }, init)
    })

    it(`${browser} counts pages without a load, each with the previous page`, async () => {
      await visit(async (page, seen) => {
        await page.evaluate(`history.pushState(null, '', '/x?q=1#top')`)
        await seen(2)
        await page.evaluate(`history.pushState({ same: true }, '', '/x?q=1#end')`)
        await page.evaluate(`location.hash = 'other'`)
        await page.evaluate(`history.replaceState(null, '', '/y')`)
        await seen(3)
        await page.evaluate(`history.go(-3)`)
        await seen(4)
        await page.evaluate(`annex.view(); annex.view()`)
        const views = ['/a <- ', '/x?q=1#top <- /a', '/y <- /x?q=1', '/a <- /y']
        assert.deepEqual(await seen(4), views)
        assert.equal(await page.evaluate(`history.pushState.length + history.pushState.name`), '2pushState')
        await assert.rejects(
          page.evaluate(`history.pushState(null, '', 'https://example.com/')`),
          /SecurityError/,
        )
      }, init)
    })

    it(`${browser} counts a page from the back/forward cache`, async () => {
      await visit(async (page, seen) => {
        await seen(1)
        await page.evaluate(
          `addEventListener('pageshow', ({ persisted }) => { globalThis.isBack = persisted })`,
        )
        await page.click('#b')
        await seen(2)
        await page.goBack({ waitUntil: 'commit' })
        assert.equal(await page.evaluate('globalThis.isBack'), true, 'the page came from the cache')
        const before = browser.startsWith('without') ? '' : '/b'
        assert.deepEqual(await seen(3), ['/a <- ', '/b <- /a', `/a <- ${before}`])
        await page.evaluate(`history.pushState(null, '', '/x')`)
        assert.equal((await seen(4))[3], '/x <- /a')
        await page.goBack({ waitUntil: 'commit' })
        await page.goForward({ waitUntil: 'commit' })
        assert.deepEqual((await seen(6)).slice(4), ['/a <- /x', '/x <- /a'])
      }, init)
    })
  }

  it('names the foreign page that led to the site', async () => {
    const context = await chromium.newContext()
    const page = await context.newPage()
    const begun = (await read()).length
    await page.goto(`${elsewhere}/start`)
    await page.evaluate(`location.href = '${siteUrl}/b'`)
    await until(read, (views) => views.length > begun)
    await page.evaluate(`history.pushState(null, '', '/x')`)
    const all = await until(read, (views) => views.length > begun + 1)
    assert.deepEqual(all.slice(begun), ['/b <- elsewhere', '/x <- /b'])
    await context.close()
  })

  it('sends no view under Global Privacy Control, but still sends feedback', async () => {
    const context = await chromium.newContext()
    const page = await context.newPage()
    await page.addInitScript(withGpc)
    const begun = (await read()).length
    await page.goto(`${siteUrl}/a`)
    const answered = page.waitForResponse((one) => one.url().endsWith('/feedback'))
    await page.evaluate(`history.pushState(null, '', '/x'); annex.view(); annex.feedback('good', 'Clear.')`)
    assert.equal((await answered).status(), 202)
    assert.equal((await read()).length, begun)
    await context.close()
  })
})
