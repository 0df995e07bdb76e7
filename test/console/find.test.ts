// tier: console (it finds pages and records by the keyboard)
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { installSample, until } from '../support/annex.ts'
import { findBarriers, overflowOf } from '../support/axe.ts'
import { skipWithoutChromium } from '../support/chromium.ts'
import { type OpenConsole, openConsole, pluginsDir, type Tab } from '../support/console.ts'

describe('the search of the console', { skip: skipWithoutChromium() }, () => {
  const ends = new AsyncDisposableStack()
  let opened: OpenConsole
  let ids: Record<string, string>
  let tab: Tab
  let page: Page
  let site: string
  before(async () => {
    opened = await openConsole({ pluginsDir })
    ends.defer(opened.close)
    const { annex } = opened
    site = annex.server.samples.site ?? ''
    const { id } = await installSample(annex, 'webhook', 'site', {
      webhook_url: `${annex.url}/x/echo`,
      site_view: true,
      page_feedback: false,
    })
    const { json: event } = await annex.api('POST', '/v1/events?organization=home', {
      type: 'site_view',
      siteId: site,
      visitor: { anonymousId: 'a', userAgent: 'b', ip: '203.0.113.7', cookies: {} },
      url: 'https://docs.example.com/start',
    })
    const { items } = await until(
      () => annex.client.call('GET /v1/deliveries'),
      ({ items }) => items[0]?.state === 'delivered',
    )
    const [delivery] = items
    ids = {
      installation: id,
      delivery: delivery?.id ?? '',
      receiver: delivery?.receiver ?? '',
      request: delivery?.request ?? '',
      event: event.eventId,
    }
    tab = await opened.asOperator()
    page = tab.page
  })
  after(() => ends.disposeAsync())

  const dialog = () => page.getByRole('dialog', { name: 'Find a page or a record' })
  const field = () => dialog().getByRole('combobox')
  const options = () => dialog().getByRole('option')
  const open = async () => {
    await page.keyboard.press('Control+k')
    await field().waitFor()
  }
  const saysNothing = () => assert.deepEqual([tab.said.splice(0), tab.refused.splice(0)], [[], []])

  it('opens by its button and by keys, and leads to a page by words', async () => {
    await tab.goto('/orgs/home')
    await page.getByRole('button', { name: 'Find' }).click()
    await field().waitFor()
    assert.equal(await dialog().locator('input:focus').count(), 1)
    assert.deepEqual(await findBarriers(page), [])
    await page.keyboard.press('Escape')
    await dialog().waitFor({ state: 'detached' })
    await open()
    await page.keyboard.type('failed WORK')
    await until(
      () => options().count(),
      (count) => count === 1,
      20,
    )
    assert.equal(
      await field().getAttribute('aria-activedescendant'),
      await options().first().getAttribute('id'),
    )
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/orgs\/home\/failed-work$/)
    await dialog().waitFor({ state: 'detached' })
    saysNothing()
  })

  it('finds integrations and installations, and says when nothing is found', async () => {
    await open()
    await page.keyboard.type('webhook')
    await options().filter({ hasText: 'inst_' }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/installations\/inst_/)
    await open()
    await page.keyboard.type('<b>nothing')
    await dialog().getByText('Nothing has this name.').waitFor()
    await page.keyboard.press('Enter')
    await page.keyboard.press('Escape')
    await dialog().waitFor({ state: 'detached' })
    saysNothing()
  })

  it('goes to the record of a pasted id', async () => {
    const cases: [text: string, path: string][] = [
      [ids.installation ?? '', `/installations/${ids.installation}`],
      [`  "${ids.delivery}"`, `/deliveries/${ids.delivery}`],
      [`${ids.request}.`, `/dispatches/${ids.request}`],
      [`(${ids.receiver?.toUpperCase()})`, `/receivers/${ids.receiver}`],
      [ids.event ?? '', `/dispatches?event=${ids.event}`],
      [ids.event?.toUpperCase() ?? '', `/dispatches?event=${ids.event}`],
      [site, `/sites/${site}`],
    ]
    for (const [text, path] of cases) {
      await tab.goto('/orgs/home/usage')
      await open()
      await field().fill(text)
      await until(
        () => options().count(),
        (count) => count === 1,
        20,
      )
      await page.keyboard.press('Enter')
      await page.waitForURL((url) => url.pathname + url.search === `/orgs/home${path}`)
      await page.locator('h1').waitFor()
      assert.equal(await page.locator('main [role="alert"]').count(), 0, path)
    }
    for (const text of ['inst_', 'inst_1', 'req_../../x', `xyz_${ids.delivery?.slice(4)}`]) {
      await open()
      await field().fill(text)
      assert.equal(await options().filter({ hasText: 'Open this' }).count(), 0, text)
      await page.keyboard.press('Escape')
      await dialog().waitFor({ state: 'detached' })
    }
    saysNothing()
  })

  it('leads from a view of a site to what it set off, and back', async () => {
    await tab.goto(`/orgs/home/sites/${site}/views`)
    await page.getByText('https://docs.example.com/start').waitFor()
    assert.deepEqual(await findBarriers(page), [])
    assert.ok((await overflowOf(page)) <= 0)
    await page.getByRole('link', { name: 'Dispatches' }).last().click()
    await page.waitForURL(/\/dispatches\?event=/)
    await page.locator('main tbody tr').getByRole('link').first().click()
    await page.waitForURL(/\/dispatches\/req_/)
    await page.getByRole('link', { name: 'Views of the site' }).click()
    await page.waitForURL(new RegExp(`/sites/${site}/views$`))
    saysNothing()
  })

  it('fits a small and dark screen', async () => {
    const small = await opened.asOperator({ width: 375, colorScheme: 'dark' })
    await small.goto('/orgs/home')
    await small.page.locator('button.menu').click()
    await small.page.getByRole('button', { name: 'Find' }).click()
    await small.page.getByRole('combobox', { name: 'A page, an integration' }).waitFor()
    await small.page.getByRole('dialog').getByRole('option').first().waitFor()
    assert.deepEqual(await findBarriers(small.page), [])
    assert.ok((await overflowOf(small.page)) <= 0)
    await small.close()
  })
})
