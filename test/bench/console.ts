// The console in a browser: bytes of the first page, a cold load, and a list of 100 rows.
import type { Page } from 'playwright-core'
import { createTerminal } from '../../host/cli/terminal.ts'
import { type Annex, installSample, until } from '../support/annex.ts'
import { skipWithoutChromium } from '../support/chromium.ts'
import { openConsole, pluginsDir, type Tab } from '../support/console.ts'
import { median } from './measure/quantile.ts'
import { describeMachine, printGoals, printTimes } from './report.ts'

const rounds = 15
const rows = 100

const terminal = createTerminal(process)
async function measure(): Promise<void> {
  const opened = await openConsole({ pluginsDir })
  await makeDeliveries(opened.annex)
  const cold: number[] = []
  const lists: number[] = []
  let bytes = 0
  for (let round = 0; round <= rounds; round++) {
    const tab = await opened.asOperator()
    await tab.page.addInitScript(noting)
    await tab.goto('/orgs/home')
    const shown = await timeOf(tab.page, 'shown')
    await tab.page.getByRole('link', { name: 'Deliveries', exact: true }).first().click()
    const listed = await timeOf(tab.page, 'listed')
    // The first round builds the console.
    if (round > 0) cold.push(shown)
    if (round > 0) lists.push(listed)
    bytes = round > 0 ? bytes : await bytesOfFirstPage(await opened.open())
    // Another tab would take its browser context, with all files.
    await tab.context.close()
  }
  await opened.close()
  terminal.say(describeMachine().text)
  printTimes(terminal, '', [
    ['overview, from the navigation with an empty cache until it can be used', cold],
    [`deliveries, from the click until ${rows} rows are painted`, lists],
  ])
  printGoals(terminal, [
    { name: 'first page, compressed', value: bytes / 1024, unit: 'KB', atMost: 60 },
    { name: 'cold load, p50', value: median(cold), unit: 'ms', atMost: 1_000 },
    { name: `${rows} rows, p50`, value: median(lists), unit: 'ms', atMost: 200 },
  ])
}

/** Notes in the page when its heading is there, and when the rows are painted after a click. */
const noting = `
  globalThis.times = {}
  let clicked
  addEventListener('click', () => { clicked = performance.now() }, { capture: true })
  const observer = new MutationObserver(() => {
    const isThere = document.querySelector('h1') && !document.querySelector('.loading')
    if (isThere) times.shown ??= performance.now()
    if (clicked === undefined || document.querySelectorAll('main tbody tr').length < ${rows}) return
    observer.disconnect()
    requestAnimationFrame(() => setTimeout(() => { times.listed = performance.now() - clicked }))
  })
  observer.observe(document, { childList: true, subtree: true })`

const timeOf = (page: Page, name: string): Promise<number> =>
  until(
    () => page.evaluate<number>(`times.${name} ?? 0`),
    (ms) => ms > 0,
  )

/** Of a person who is not signed in. */
async function bytesOfFirstPage(tab: Tab): Promise<number> {
  await tab.goto('/sign-in')
  const bytes = await tab.page.evaluate<number>(`
    [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
      .filter(({ name }) => !name.includes('/v1/'))
      .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`)
  await tab.context.close()
  return bytes
}

async function makeDeliveries({ client, api, url, server }: Annex): Promise<void> {
  await installSample({ client, api, server }, 'webhook', 'site', {
    ...{ webhook_url: `${url}/x/echo`, site_view: true, page_feedback: false },
  })
  const view = {
    ...{ type: 'site_view', siteId: server.samples.site, url: 'https://docs.example.com/' },
    visitor: { anonymousId: 'a', userAgent: 'b', ip: '203.0.113.7', cookies: {} },
  }
  for (let n = 0; n < rows; n++) await api('POST', '/v1/events?organization=home', view)
  await until(
    () => client.call('GET /v1/deliveries', { query: { limit: rows } }),
    ({ items }) => items.length === rows,
  )
}

const missing = skipWithoutChromium()
if (missing) terminal.say(`Left out: ${missing}`)
else await measure()
// The browser of the tests ends with the process.
process.exit(0)
