// tier: console (used permissions, and changes of a status)
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { installSample, until } from '../support/annex.ts'
import { findBarriers, overflowOf } from '../support/axe.ts'
import { skipWithoutChromium } from '../support/chromium.ts'
import { type OpenConsole, openConsole, type Tab } from '../support/console.ts'

const script = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: async (_request, { environment: { apiEndpoint, apiTokens, siteInstallation, installation } }) => {
    const path = '/v1/orgs/' + installation.target.organization + '/sites/' + siteInstallation.site
    const headers = { authorization: 'Bearer ' + apiTokens.installation }
    return new Response(String((await fetch(apiEndpoint + path, { headers })).status))
  },
  events: {
    site_installation_setup: (_event, { environment }) => {
      if (!environment.siteInstallation.configuration.team) throw new Error('no team')
    },
  },
})`
const more = `
configurations:
  site:
    properties: { team: { type: string, title: Team } }
    required: [team]`

describe('the history of an installation in the console', { skip: skipWithoutChromium() }, () => {
  let opened: OpenConsole
  let tab: Tab
  let at: string
  let siteAt: string
  before(async () => {
    const scopes = ['site:metadata:read', 'site:views:read']
    opened = await openConsole({ plugins: { told: { script, more, scopes } } })
    const { annex } = opened
    const { id, path, endpoint } = await installSample(annex, 'told', 'site')
    await until(
      () => annex.api('GET', path),
      ({ json }) => json.statusReason !== undefined,
    )
    await annex.api('PUT', `${path}/configuration/team`, { value: 'blue' })
    for (let call = 0; call < 3; call += 1) assert.equal(await (await fetch(endpoint)).text(), '200')
    await annex.api('POST', `${path.replace(/\/sites.*/, '')}/pause`)
    await annex.api('POST', `${path.replace(/\/sites.*/, '')}/resume`)
    at = `/orgs/home/installations/${id}`
    siteAt = `${at}/sites/${annex.server.samples.site}`
    tab = await opened.asOperator()
  })
  after(() => opened.close())

  it('says of each agreed scope how often it was used, and since when it counts', async () => {
    await tab.goto(`${at}/permissions`)
    const line = (text: string) => tab.page.locator('main li', { hasText: text })
    await line('Read titles and addresses of the sites')
      .getByText('Used 3 times in the last 30 days, last today.')
      .waitFor()
    await line('Read the visits of the sites').getByText('Not used so far. Uses are counted since').waitFor()
    const later = await opened.asOperator()
    await later.page.clock.install({ time: Date.now() + 31 * 86_400_000 })
    await later.goto(`${at}/permissions`)
    await later.page.getByText('Not used in the last 30 days.').waitFor()
    await later.context.close()
  })

  it('shows each change of a status, and leads to what caused it', async () => {
    await tab.goto(`${at}/status`)
    const items = tab.page.locator('.line > li')
    await items.nth(3).waitFor()
    const told = (await items.allInnerTexts()).map((text) => text.replace(/\s+/g, ' '))
    assert.match(told[0] ?? '', /^Active .* with a token Resumed by hand\. To the audit$/)
    assert.match(told[1] ?? '', /^Paused .* Paused by hand: events wait\. To the audit$/)
    assert.match(told[2] ?? '', /^Active .* by the script The script handled the setup event\./)
    assert.match(told[3] ?? '', /Installed\./)
    await items.nth(1).getByRole('link').click()
    await tab.page.getByText('installation.pause').first().waitFor()
    await tab.goto(`${siteAt}/status`)
    const failed = tab.page.locator('.line > li.bad')
    await failed.getByText('The script failed to handle the setup event.').waitFor()
    await failed.getByText('Its setup needs settings that are not there yet: team.').waitFor()
    await failed.getByRole('link').click()
    await tab.page.getByText('no team').first().waitFor()
    assert.deepEqual([tab.said, tab.refused], [[], []])
  })

  it('shows both to a reader, without the way to the audit, and to no other organization', async () => {
    const reader = await opened.asMember('home', 'reader')
    await reader.goto(`${at}/status`)
    await reader.page.getByText('Resumed by hand.').waitFor()
    assert.equal(await reader.page.getByRole('link', { name: 'To the audit' }).count(), 0)
    await reader.goto(`${at}/permissions`)
    await reader.page.getByText('Used 3 times in the last 30 days, last today.').waitFor()
    assert.deepEqual([reader.said, reader.refused], [[], []])
    await reader.close()
    await opened.annex.api('POST', '/v1/orgs', { subdomain: 'other', title: 'Other' })
    const stranger = await opened.asMember('other', 'admin')
    for (const part of ['status', 'permissions']) {
      await stranger.goto(`${at}/${part}`)
      await stranger.page.getByRole('alert').first().waitFor()
      assert.doesNotMatch((await stranger.page.locator('main').textContent()) ?? '', /told|Resumed|Used/)
    }
    await stranger.close()
  })

  for (const [colorScheme, width] of [
    ['light', 375],
    ['dark', 1280],
  ] as const) {
    it(`has no barrier, ${colorScheme} at ${width} px`, async () => {
      const shown = await opened.asOperator({ colorScheme, width })
      for (const part of [`${at}/permissions`, `${at}/status`, `${siteAt}/status`]) {
        await shown.goto(part)
        await shown.page.locator('main .card, main .line > li').first().waitFor()
        assert.deepEqual(await findBarriers(shown.page), [], part)
        assert.equal(await overflowOf(shown.page), 0, part)
      }
      assert.deepEqual([shown.said, shown.refused], [[], []])
      await shown.close()
    })
  }
})
