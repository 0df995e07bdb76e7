// tier: console (it works with lists in a browser)
import assert from 'node:assert/strict'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { installSample, until } from '../support/annex.ts'
import { findBarriers } from '../support/axe.ts'
import { skipWithoutChromium } from '../support/chromium.ts'
import { type OpenConsole, openConsole, type Tab } from '../support/console.ts'

/** `?level=&text=` logs a line, `?throw=` throws, `?task=` queues a task that fails, `?later=` one for the next hour. */
const script = `import { createIntegration } from '@annex/runtime'
let isMended = false
export default createIntegration({
  fetch: async (request, { integration }) => {
    const given = Object.fromEntries(new URL(request.url).searchParams)
    if (given.mend) isMended = true
    if (given.task) await integration.queueTask({ task: { what: given.task } })
    if (given.later) await integration.queueTask({ task: { what: given.later }, schedule: 3_600 })
    if (given.throw) throw new Error(given.throw)
    if (given.level) for (let n = 0; n < Number(given.times ?? 1); n += 1) console[given.level](given.text)
    return new Response('done')
  },
  task: (task) => {
    if (!isMended) throw new Error('the task ' + task.what + ' fails')
  },
})`

describe('lists in the console', { skip: skipWithoutChromium() }, () => {
  const ends = new AsyncDisposableStack()
  let opened: OpenConsole
  let endpoint: string
  let tab: Tab
  let page: Page
  before(async () => {
    opened = await openConsole({
      plugins: { works: { script } },
      flags: { DELIVERY_RETRY_SECONDS: '0.1' },
    })
    ends.defer(opened.close)
    ;({ endpoint } = await installSample(opened.annex, 'works'))
    tab = await opened.asOperator()
    page = tab.page
  })
  after(() => ends.disposeAsync())

  const ask = (query: Record<string, string>) => fetch(`${endpoint}?${new URLSearchParams(query)}`)
  const button = (name: string | RegExp) => page.getByRole('button', { name })
  const rows = () => page.locator('main tbody tr')
  const count = (expected: number) =>
    until(
      () => rows().count(),
      (found) => found === expected,
      20,
    )
  const saysNothing = () => assert.deepEqual([tab.said.splice(0), tab.refused.splice(0)], [[], []])

  it('shows lines of logs with their positions, filtered by the address', async () => {
    await ask({ level: 'warn', text: 'Late again' })
    await ask({ level: 'info', text: 'On time' })
    await ask({ throw: 'No settings' })
    await tab.goto('/orgs/home/logs')
    await count(3)
    const [newest = ''] = await rows().first().allInnerTexts()
    assert.match(newest, /Error: No settings\s+plugins\/works\/index\.ts:9:\d+/)
    const link = rows().first().getByRole('link', { name: /^req_/ })
    assert.match((await link.getAttribute('href')) ?? '', /^\/orgs\/home\/dispatches\/req_[\w-]{36}$/)
    await page.getByRole('searchbox').fill('LATE')
    await page.waitForURL(/\/logs\?text=LATE$/)
    await count(1)
    await page.getByLabel('Level').selectOption('error')
    await page.getByText('Nothing matches this filter.').waitFor()
    assert.equal(await button('Clear the filter').count(), 1)
    assert.deepEqual(await findBarriers(page), [])
    await page.goBack()
    await count(1)
    await button('Clear the filter').click()
    await page.waitForURL(/\/logs$/)
    await count(3)
    saysNothing()
  })

  it('keeps new lines behind a button, and leads to older and newer pages', async () => {
    await tab.goto('/orgs/home/logs?level=debug')
    await page.getByText('Nothing matches this filter.').waitFor()
    await ask({ level: 'debug', text: 'many', times: '205' })
    await count(100)
    await ask({ level: 'debug', text: 'new', times: '2' })
    await button('Show 2 new').click()
    await rows().first().getByText('new').waitFor()
    await count(100)
    await page.getByRole('link', { name: 'Older' }).click()
    await page.waitForURL(/level=debug&page=/)
    const second = page.url()
    await count(100)
    await page.getByRole('link', { name: 'Older' }).click()
    await count(7)
    await page.reload()
    await count(7)
    await page.getByRole('link', { name: 'Newer' }).click()
    await page.waitForURL(second)
    await count(100)
    await page.getByRole('link', { name: 'Newest' }).click()
    await rows().first().getByText('new').waitFor()
    await page.getByText('Each integration keeps its newest 10,000 lines.').waitFor()
    saysNothing()
  })

  it('leads from a problem to failed work, which is discarded or run again', async () => {
    for (const task of ['one', 'two', 'three']) await ask({ task })
    await until(
      () => opened.annex.api('GET', '/v1/jobs'),
      ({ json }) => json.count === 3,
    )
    await tab.goto('/orgs/home')
    await page.getByRole('link', { name: 'See what failed' }).click()
    await page.waitForURL(/\/failed-work\?installation=inst_/)
    await count(3)
    const first = rows().filter({ hasText: 'Error: the task one fails' })
    assert.deepEqual(await findBarriers(page), [])
    await first.getByRole('link', { name: 'Task' }).click()
    await page.getByText('"what": "one"').waitFor()
    await page.getByText('plugins/works/index.ts:').first().waitFor()
    assert.deepEqual(await findBarriers(page), [])
    await button('Discard').click()
    await button('Discard it').click()
    await page.waitForURL(/\/failed-work$/)
    await count(2)
    await ask({ mend: 'yes' })
    await button('Run these 2 again').click()
    await page.getByText('Nothing has failed.').waitFor()
    await page.getByText('2 runs queued.').waitFor()
    // The overview asks for the sample's integration, which is not there. A job that is discarded may be read once more.
    assert.deepEqual([tab.said.splice(0), new Set(tab.refused.splice(0))], [[], new Set([404])])
  })

  it('shows work that waits behind a filter of the address, the next one first', async () => {
    await ask({ later: 'tea' })
    await tab.goto('/orgs/home/failed-work')
    await page.getByText('Nothing has failed.').waitFor()
    await page.getByLabel('State').selectOption({ label: 'Due' })
    await page.waitForURL(/\/failed-work\?state=due$/)
    await count(1)
    await page.getByRole('columnheader', { name: 'Next attempt' }).waitFor()
    assert.equal(await button(/Run again|Discard/).count(), 0)
    assert.deepEqual(await findBarriers(page), [])
    await ask({ later: 'coffee' })
    await count(2)
    await page.getByLabel('Time', { exact: true }).selectOption('hour')
    await page.waitForURL(/state=due&period=hour$/)
    await count(2)
    await page.getByLabel('State').selectOption('waiting')
    await page.getByText('Nothing matches this filter.').waitFor()
    await tab.goto('/orgs/home/failed-work?state=due')
    await rows().first().getByRole('link', { name: 'Task' }).click()
    await page.getByRole('heading', { name: 'Pending task' }).waitFor()
    saysNothing()
  })

  it('limits dispatches and changes to a time', async () => {
    await tab.goto('/orgs/home/dispatches')
    await rows().first().waitFor()
    await page.getByLabel('Time', { exact: true }).selectOption('day')
    await page.waitForURL(/\/dispatches\?period=day$/)
    await rows().first().waitFor()
    for (const path of ['/orgs/home/dispatches', '/orgs/home/audit', '/audit']) {
      await tab.goto(`${path}?before=2020-01-01T00:00:00.000Z`)
      await page.getByText('Nothing matches this filter.').waitFor()
      await tab.goto(`${path}?after=2020-01-01T00:00:00.000Z`)
      await rows().first().waitFor()
    }
    await tab.goto('/orgs/home/audit?before=2020-01-01T00:00:00.000Z')
    const link = page.getByRole('link', { name: 'Export as lines of JSON' })
    assert.match(
      (await link.getAttribute('href')) ?? '',
      /organization=home&until=2020-01-01T00%3A00%3A00\.000Z$/,
    )
    saysNothing()
  })

  it('makes a token that is shown once, and revokes it', async () => {
    const admin = await opened.asMember('home', 'admin')
    const named = (name: string) => admin.page.getByRole('button', { name })
    await admin.goto('/orgs/home/tokens')
    await admin.page.getByText('No token yet.').waitFor()
    await admin.page.getByLabel('Purpose').fill('nightly <b>job</b>')
    await admin.page.getByLabel('Role').selectOption('editor')
    await named('Make a token').click()
    const token = await admin.page.getByRole('dialog').locator('pre').first().textContent()
    assert.match(token ?? '', /^annex_/)
    assert.deepEqual(await findBarriers(admin.page), [])
    const whoIs = async () => (await opened.annex.api('GET', '/v1/me', undefined, token ?? '')).json
    assert.equal((await whoIs()).role, 'editor')
    await named('Close').click()
    await admin.page.locator('td bdi', { hasText: 'nightly <b>job</b>' }).waitFor()
    assert.equal((await admin.page.content()).includes(token ?? ''), false)
    await admin.page.getByText(/admin-\d+@example\.com/).waitFor()
    await admin.page.getByText('in 2 months').waitFor()
    await named('Revoke').click()
    await named('Revoke it').click()
    await admin.page.getByText('No token yet.').waitFor()
    assert.equal((await whoIs()).error.code, 'unauthorized')
    await admin.goto('/tokens')
    await admin.page.getByText('Only an operator sees what concerns Annex as a whole.').waitFor()
    assert.deepEqual([admin.said, admin.refused], [[], []])
    await tab.goto('/tokens')
    await page.locator('td bdi', { hasText: 'command line' }).waitFor()
    saysNothing()
    await admin.close()
  })

  it('asks a reader for a role where the role may not read', async () => {
    const reader = await opened.asMember('home', 'reader')
    await reader.goto('/orgs/home/tokens')
    await reader.page.getByText('This needs the role admin. You have the role reader.').waitFor()
    assert.deepEqual([reader.said, reader.refused], [[], []])
    await reader.close()
  })

  it('shows who changed what, and saves all of it as a file', async () => {
    const admin = await opened.asMember('home', 'admin')
    const { api, server } = opened.annex
    const site = `/v1/orgs/home/sites/${server.samples.site}`
    assert.equal((await api('PATCH', site, { title: '<i>New</i> title' })).status, 200)
    await admin.goto('/orgs/home/audit?action=site.change')
    const row = admin.page.locator('main tbody tr').first()
    await row.getByText('1 value').click()
    await row.getByText('<i>New</i> title').waitFor()
    const [shown = ''] = await row.allInnerTexts()
    assert.match(
      shown,
      /site\.change[\s\S]*token[\s\S]*title\s+Sample site\s+<i>New<\/i> title[\s\S]*From the address/,
    )
    assert.deepEqual(await findBarriers(admin.page), [])
    const [download] = await Promise.all([
      admin.page.waitForEvent('download'),
      admin.page.getByRole('link', { name: 'Export as lines of JSON' }).click(),
    ])
    const lines = (await text(await download.createReadStream())).trim().split('\n')
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).action),
      ['site.change'],
    )
    await row.getByRole('link', { name: /^tok_/ }).click()
    await admin.page.waitForURL(/\/audit\?actor=tok_/)
    await admin.page.getByText('installation.create').first().waitFor()
    await admin.page.getByText('Entries are kept for 30 days.').waitFor()
    await admin.goto('/audit')
    await admin.page.getByText('Only an operator sees').waitFor()
    assert.deepEqual([admin.said, admin.refused], [[], []])
    await tab.goto('/audit')
    await page.getByText('account.create').first().waitFor()
    assert.deepEqual(await findBarriers(page), [])
    saysNothing()
    await admin.close()
  })

  it('makes a site, gives it an audience schema, and deletes it', async () => {
    await tab.goto('/orgs/home/places')
    await page.getByRole('link', { name: 'Sample handbook' }).waitFor()
    await button('Make a site').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Title').fill('Guides & more')
    assert.equal(await dialog.getByLabel('Slug').inputValue(), 'guides-more')
    assert.deepEqual(await findBarriers(page), [])
    await dialog.getByRole('button', { name: 'Make a site' }).click()
    await page.waitForURL(/\/orgs\/home\/sites\/site_/)
    const { urls, id } = (await opened.annex.api('GET', '/v1/orgs/home/sites/guides-more')).json
    await page.getByText('Nothing is installed in this site.').waitFor()
    await page.getByText(`/v1/sites/${id}/script.js`).waitFor()
    assert.deepEqual(await findBarriers(page), [])

    // Public components append this to `urls.app`, which ends with a slash.
    await tab.goto(`${new URL(urls.app).pathname}/settings/audience`)
    const schema = page.getByLabel('JSON Schema')
    await page.getByText('This site has no audience schema yet').waitFor()
    await schema.fill('{\n  "type": "object",\n  "properties": { "plan": { "type": "string" }, }\n}')
    await button('Save the schema').click()
    await page.getByText('Line 3:').waitFor()
    await schema.fill('{\n  "type": "object",\n  "properties": {\n    "plan": { "type": "text" }\n  }\n}')
    await button('Save the schema').click()
    await page.getByText('Line 4:').waitFor()
    assert.deepEqual(await findBarriers(page), [])
    await schema.fill('{\n  "type": "object",\n  "properties": {\n    "plan": { "type": "string" }\n  }\n}')
    await button('Save the schema').click()
    await page.getByText('Schema saved.').waitFor()
    const stored = await opened.annex.api('GET', `/v1/orgs/home/sites/${id}/adaptive-schema`)
    assert.deepEqual(stored.json.jsonSchema.properties, { plan: { type: 'string' } })
    await page.reload()
    await until(
      () => schema.inputValue(),
      (text) => text.includes('"plan"'),
      20,
    )

    const another = await opened.asOperator()
    await another.goto(`${new URL(urls.app).pathname}/settings/audience`)
    const theirs = another.page.getByLabel('JSON Schema')
    await another.page.getByRole('button', { name: 'Remove the schema' }).waitFor()
    await schema.fill('{ "type": "object", "properties": { "mine": { "type": "string" } } }')
    await theirs.fill('{ "type": "object", "properties": { "theirs": { "type": "string" } } }')
    await another.page.getByRole('button', { name: 'Save the schema' }).click()
    await another.page.getByText('Schema saved.').waitFor()
    await button('Save the schema').click()
    await page.getByText('Another person has saved another schema').waitFor()
    assert.deepEqual(await findBarriers(page), [])
    assert.match(await schema.inputValue(), /mine/, 'nothing that was typed is lost')
    await button('Save mine in its place').click()
    await page.getByText('Schema saved.').first().waitFor()
    await until(
      () => opened.annex.api('GET', `/v1/orgs/home/sites/${id}/adaptive-schema`),
      ({ json }) => json.jsonSchema.properties.mine !== undefined,
    )
    await another.page.getByRole('button', { name: 'Remove the schema' }).click()
    await another.page.getByRole('button', { name: 'Remove it' }).click()
    await another.page.getByText('Nothing was removed').waitFor()
    await until(
      () => theirs.inputValue(),
      (text) => text.includes('"mine"'),
      20,
    )
    await another.page.getByRole('button', { name: 'Remove the schema' }).click()
    await another.page.getByRole('button', { name: 'Remove it' }).click()
    await another.page.getByText('This site has no audience schema yet').waitFor()
    assert.equal(await another.page.getByRole('button', { name: 'Remove the schema' }).count(), 0)
    assert.deepEqual(another.said, [])
    await another.close()

    await button('Change').click()
    await dialog.getByLabel('Title').fill('Handbook שלום')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { name: 'Handbook שלום' }).waitFor()
    await page.getByLabel('More actions').click()
    await button('Delete').click()
    const confirm = dialog.getByRole('button', { name: 'Delete the site' })
    assert.equal(await confirm.getAttribute('aria-disabled'), 'true')
    await dialog.getByLabel('Type guides-more to confirm').fill('guides-more')
    await confirm.click()
    await page.waitForURL(/\/places$/)
    assert.equal((await opened.annex.api('GET', `/v1/orgs/home/sites/${id}`)).status, 404)
    assert.deepEqual([tab.said.splice(0), new Set(tab.refused.splice(0))], [[], new Set([412, 422])])
  })

  it('reads the folders again, and says which one is refused and why', async () => {
    const { pluginsDir, api } = opened.annex
    await tab.goto('/versions')
    await rows().filter({ hasText: 'works' }).getByText('Version 1').waitFor()
    mkdirSync(join(pluginsDir, 'broken'))
    writeFileSync(join(pluginsDir, 'broken', 'service-manifest.yaml'), 'name: broken\n')
    await button('Read all folders again').click()
    await page.getByText('1 folder loaded, 1 refused.').waitFor()
    await page.getByText(/The plugin folder broken has errors.*service-manifest\.yaml:1:1/).waitFor()
    assert.deepEqual(await findBarriers(page), [])
    rmSync(join(pluginsDir, 'broken'), { recursive: true })
    await button('Read all folders again').click()
    await page.getByRole('heading', { name: 'What does not load' }).waitFor({ state: 'detached' })
    assert.equal((await api('GET', '/v1/reload')).json.running, false)
    saysNothing()
  })
})
