// tier: console (it opens each page in light and dark)
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { installSample, until } from '../support/annex.ts'
import { findBarriers, overflowOf } from '../support/axe.ts'
import { skipWithoutChromium } from '../support/chromium.ts'
import { type OpenConsole, openConsole, pluginsDir, type Tab } from '../support/console.ts'

describe('each page of the console', { skip: skipWithoutChromium() }, () => {
  let opened: OpenConsole
  let paths: Record<string, string>
  let operator: Tab
  let stranger: Tab
  let reader: Tab
  before(async () => {
    opened = await openConsole({ pluginsDir })
    const { annex } = opened
    const receiver = `${annex.url}/x/echo`
    const { id } = await installSample(annex, 'webhook', 'site', {
      webhook_url: receiver,
      site_view: true,
      page_feedback: false,
    })
    await annex.api('POST', '/v1/events?organization=home', {
      type: 'site_view',
      siteId: annex.server.samples.site,
      visitor: { anonymousId: 'a', userAgent: 'b', ip: '203.0.113.7', cookies: {} },
      url: 'https://docs.example.com/',
    })
    const { items } = await until(
      () => annex.client.call('GET /v1/deliveries'),
      ({ items }) => items[0]?.state === 'delivered',
    )
    await annex.api('POST', '/v1/orgs', { subdomain: 'other', title: 'Other' })
    paths = {
      overview: '/orgs/home',
      deliveries: '/orgs/home/deliveries',
      delivery: `/orgs/home/deliveries/${items[0]?.id}`,
      dispatches: '/orgs/home/dispatches',
      dispatch: `/orgs/home/dispatches/${items[0]?.request}`,
      receivers: '/orgs/home/receivers',
      receiver: `/orgs/home/receivers/${items[0]?.receiver}`,
      installations: '/orgs/home/installations',
      installation: `/orgs/home/installations/${id}`,
      permissions: `/orgs/home/installations/${id}/permissions`,
      status: `/orgs/home/installations/${id}/status`,
      'failed work': '/orgs/home/failed-work',
      logs: '/orgs/home/logs',
      places: '/orgs/home/places',
      site: `/orgs/home/sites/${annex.server.samples.site}`,
      views: `/orgs/home/sites/${annex.server.samples.site}/views`,
      audience: `/orgs/home/sites/${annex.server.samples.site}/settings/audience`,
      members: '/orgs/home/members',
      tokens: '/orgs/home/tokens',
      usage: '/orgs/home/usage',
      audit: '/orgs/home/audit',
    }
    operator = await opened.asOperator()
    stranger = await opened.asMember('other', 'admin')
    reader = await opened.asMember('home', 'reader')
  })
  after(() => opened.close())

  const shows: Record<string, RegExp> = {
    overview: /The one installation works\.[\s\S]*webhook[\s\S]*site_view/,
    deliveries: /Delivered[\s\S]*site_view[\s\S]*\/x\/echo/,
    delivery: /Attempt 1[\s\S]*The receiver answered 200/,
    dispatches: /Handled[\s\S]*site_view[\s\S]*webhook/,
    dispatch: /Dispatch of site_view[\s\S]*Handled[\s\S]*\/x\/echo/,
    receivers: /Active[\s\S]*\/x\/echo[\s\S]*Annex sends to it/,
    receiver: /Active[\s\S]*\/x\/echo[\s\S]*Its deliveries[\s\S]*site_view/,
    installations: /Active[\s\S]*Webhooks/,
    installation: /Webhooks[\s\S]*Active[\s\S]*\/x\/webhook\/inst_/,
    permissions: /Agreed with version 1[\s\S]*Read the visits/,
    status: /Active[\s\S]*The script handled the setup event[\s\S]*Installed/,
    'failed work': /Nothing has failed/,
    logs: /No line yet/,
    places: /Sample site[\s\S]*Sample handbook/,
    site: /Installed here[\s\S]*webhook[\s\S]*1 view in all/,
    views: /docs\.example\.com[\s\S]*Dispatches/,
    audience: /This site has no audience schema yet/,
    usage: /By installation[\s\S]*webhook[\s\S]*Limits of one call: 1 s of CPU time[\s\S]*By hour/,
    members: /reader-2@example\.com/,
  }
  for (const [name, text] of Object.entries(shows)) {
    it(`shows ${name} to the operator`, async () => {
      await operator.load(paths[name] ?? '')
      await waitForText(operator, text)
      assert.deepEqual([operator.said, operator.refused], [[], []])
    })

    it(`shows nothing of ${name} to another organization`, async () => {
      await stranger.goto(paths[name] ?? '')
      await stranger.page.getByRole('alert').first().waitFor()
      const shown = await textOf(stranger)
      assert.doesNotMatch(shown, /webhook|site_view|\/x\/|@example\.com|Attempt/)
      // A filter names all states: the state of a record is a chip.
      assert.equal(await stranger.page.locator('main .chip').count(), 0)
      const odd = stranger.refused.filter((status) => status !== 404)
      assert.deepEqual(odd, [])
      assert.deepEqual(stranger.said.splice(0), [])
    })
  }

  it('lets a reader see the same pages', async () => {
    for (const [name, text] of Object.entries(shows)) {
      await reader.goto(paths[name] ?? '')
      await waitForText(reader, text)
    }
    assert.deepEqual([reader.said, reader.refused], [[], []])
  })

  it('disables for a reader what the role may not do, with the reason', async () => {
    const buttons: Record<string, string[]> = {
      deliveries: ['Send failed ones again'],
      delivery: ['Send again'],
      receiver: ['Pause', 'Keep the order', 'Send an example'],
      places: ['Make a site', 'Make a space', 'Change', 'Delete'],
      audience: ['Save the schema'],
      members: ['Make an invitation', 'New link', 'Remove'],
    }
    for (const [name, labels] of Object.entries(buttons)) {
      await reader.goto(paths[name] ?? '')
      await waitForText(reader, shows[name] ?? /./)
      for (const label of labels) {
        const button = reader.page.getByRole('button', { name: new RegExp(`^${label}`) }).first()
        if (label === 'New link' && (await button.count()) === 0) continue
        assert.equal(await button.getAttribute('aria-disabled'), 'true', label)
        assert.match(
          (await button.getAttribute('title')) ?? '',
          /^This needs the role (editor|admin)\./,
          label,
        )
        await button.click({ force: true })
      }
    }
    assert.deepEqual(reader.refused, [])
  })

  const looks = [
    { colorScheme: 'light', width: 1280 },
    { colorScheme: 'dark', width: 375 },
    { colorScheme: 'light', width: 1920 },
  ] as const
  for (const { colorScheme, width } of looks) {
    it(`has no barrier and no overflow at ${width} px, ${colorScheme}`, async () => {
      const tab = await opened.asOperator({ colorScheme, width })
      for (const [name, path] of Object.entries({ ...paths, account: '/account', unknown: '/no/page' })) {
        await tab.goto(path)
        if (shows[name]) await waitForText(tab, shows[name])
        assert.deepEqual(await findBarriers(tab.page), [], name)
        assert.ok((await overflowOf(tab.page)) <= 0, `${name} is wider than the window`)
      }
      assert.deepEqual([tab.said, tab.refused], [[], []])
      await tab.close()
    })

    it(`has no barrier before signing in at ${width} px, ${colorScheme}`, async () => {
      const tab = await opened.open({ colorScheme, width })
      for (const path of ['/sign-in', '/setup', '/setup#annex_setup_x', '/join#annex_invite_x', '/reset#x']) {
        await tab.goto(path)
        assert.deepEqual(await findBarriers(tab.page), [], path)
        assert.ok((await overflowOf(tab.page)) <= 0, `${path} is wider than the window`)
      }
      assert.deepEqual(tab.said, [])
      await tab.close()
    })
  }
})

/** What a person sees of the page. */
const textOf = async ({ page }: Tab): Promise<string> => (await page.locator('main').allInnerTexts()).join('')

/** Waits until the page has the text. */
async function waitForText(tab: Tab, text: RegExp): Promise<void> {
  await until(
    () => textOf(tab),
    (shown) => text.test(shown),
    20,
  )
}
