// tier: console (it opens charts)
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { openDatabase } from '../../host/db/open-database.ts'
import { readLoad } from '../../host/metrics/read-load.ts'
import { createActivityRecorder } from '../../host/metrics/record-activity.ts'
import { installSample } from '../support/annex.ts'
import { findBarriers, overflowOf } from '../support/axe.ts'
import { skipWithoutChromium } from '../support/chromium.ts'
import { type OpenConsole, openConsole, pluginsDir, type Tab } from '../support/console.ts'

/** As Annex does once a minute. */
async function storeLoad(dataDir: string): Promise<void> {
  const { db, close } = await openDatabase('', dataDir)
  const recorder = createActivityRecorder(db, assert.ifError)
  recorder.noteLoad(await readLoad(db, { processes: () => [] }))
  await recorder.close()
  await close()
}

describe('the charts of the overview', { skip: skipWithoutChromium() }, () => {
  let opened: OpenConsole
  let reader: Tab
  before(async () => {
    opened = await openConsole({ pluginsDir })
    const { endpoint } = await installSample(opened.annex, 'echo')
    for (let n = 0; n < 3; n++) await fetch(opened.annex.url + new URL(endpoint).pathname)
    await opened.annex.api('POST', '/v1/orgs', { subdomain: 'other', title: 'Other' })
    reader = await opened.asMember('home', 'reader')
  })
  after(() => opened.close())

  const chart = (tab: Tab, name: string) => tab.page.locator('figure', { hasText: name })
  const requests = (tab: Tab) => chart(tab, 'Requests to scripts')
  const memory = (tab: Tab) => chart(tab, 'Memory of sandboxes')

  it('draw what happened, and have its numbers as a table', async () => {
    await reader.goto('/orgs/home')
    await requests(reader).locator('canvas').waitFor()
    assert.match((await requests(reader).locator('figcaption').textContent()) ?? '', /all 3/)
    await requests(reader).locator('summary').click()
    assert.equal(await requests(reader).locator('tbody tr').first().locator('td').first().textContent(), '3')
    assert.deepEqual(await findBarriers(reader.page), [])
    assert.deepEqual([reader.said, reader.refused], [[], []])
  })

  it('are of another time by an address of their own', async () => {
    await reader.page.getByRole('link', { name: 'Week' }).click()
    await reader.page.waitForURL(/[?&]span=week/)
    await reader.page.reload()
    await requests(reader).locator('canvas').waitFor()
    assert.equal(await reader.page.locator('.choices [aria-current]').textContent(), 'Week')
  })

  it('show all of Annex to an operator alone', async () => {
    const operator = await opened.asOperator({ width: 375, colorScheme: 'dark' })
    await operator.goto('/orgs/home?of=annex')
    await memory(operator).locator('canvas').waitFor()
    assert.ok((await overflowOf(operator.page)) <= 0)
    assert.deepEqual(await findBarriers(operator.page), [])
    await reader.goto('/orgs/home?of=annex')
    await requests(reader).locator('canvas').waitFor()
    assert.equal(await memory(reader).count(), 0)
  })

  it('show the backlog of an organization and its age', async () => {
    const { annex } = opened
    const { path } = await installSample(annex, 'webhook', 'site', {
      ...{ webhook_url: 'http://127.0.0.1:9/', site_view: true, page_feedback: false },
    })
    await annex.api('POST', `${path.replace(/\/sites\/.*$/, '')}/pause`)
    const visitor = { anonymousId: 'v', userAgent: 'test', ip: '203.0.113.7', cookies: {} }
    const view = { type: 'site_view', siteId: annex.server.samples.site, visitor, url: 'http://a.example/' }
    assert.equal((await annex.api('POST', '/v1/events?organization=home', view)).status, 202)
    await storeLoad(annex.dataDir)
    await reader.goto('/orgs/home')
    await chart(reader, 'Pending jobs').locator('canvas').waitFor()
    const numbersOf = async (name: string) => {
      await chart(reader, name).locator('summary').click()
      return chart(reader, name).locator('tbody tr').first().locator('td').textContent()
    }
    assert.equal(await numbersOf('Pending jobs'), '1')
    assert.match((await numbersOf('Age of the oldest job')) ?? '', /^\d+ s$/)
    assert.deepEqual(await findBarriers(reader.page), [])
  })

  it('show nothing of one organization to another', async () => {
    const stranger = await opened.asMember('other', 'admin')
    await stranger.goto('/orgs/other')
    await stranger.page.getByText('Nothing happened in this time.').waitFor()
    assert.deepEqual(stranger.said, [])
  })
})
