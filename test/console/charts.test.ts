// tier: console (it opens charts)
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { installSample } from '../support/annex.ts'
import { findBarriers, overflowOf } from '../support/axe.ts'
import { skipWithoutChromium } from '../support/chromium.ts'
import { type OpenConsole, openConsole, pluginsDir, type Tab } from '../support/console.ts'

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

  const requests = (tab: Tab) => tab.page.locator('figure', { hasText: 'Requests to scripts' })

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
    await operator.page.locator('figure', { hasText: 'Pending jobs' }).locator('canvas').waitFor()
    assert.ok((await overflowOf(operator.page)) <= 0)
    assert.deepEqual(await findBarriers(operator.page), [])
    await reader.goto('/orgs/home?of=annex')
    await requests(reader).locator('canvas').waitFor()
    assert.equal(await reader.page.locator('figure', { hasText: 'Pending jobs' }).count(), 0)
  })

  it('show nothing of one organization to another', async () => {
    const stranger = await opened.asMember('other', 'admin')
    await stranger.goto('/orgs/other')
    await stranger.page.getByText('Nothing happened in this time.').waitFor()
    assert.deepEqual(stranger.said, [])
  })
})
