// tier: console (an installation from its connection to its end)
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { installSample, until } from '../support/annex.ts'
import { findBarriers, overflowOf } from '../support/axe.ts'
import { skipWithoutChromium } from '../support/chromium.ts'
import { type OpenConsole, openConsole, password, type Tab } from '../support/console.ts'
import { writePlugin } from '../support/plugin-folder.ts'
import { settingsPlugin } from '../support/settings-plugin.ts'

describe('an installation in the console', { skip: skipWithoutChromium() }, () => {
  let opened: OpenConsole
  let provider: Provider
  let tab: Tab
  let page: Page
  let id: string
  let path: string
  let account: string
  let at: string
  let siteAt: string
  before(async () => {
    provider = await startProvider()
    const plugin = settingsPlugin(provider.url)
    opened = await openConsole({ plugins: { settled: plugin } })
    const { annex } = opened
    const installed = await installSample(annex, 'settled', 'site', {
      address: 'https://example.com/',
      team: 'a',
    })
    id = installed.id
    path = installed.path
    account = path.replace(/\/sites\/.*/, '')
    at = `/orgs/home/installations/${id}`
    siteAt = `${at}/sites/${annex.server.samples.site}`
    // The provider sends the browser back to the address that Annex was told.
    tab = await opened.asOperator({ url: annex.url })
    page = tab.page
  })
  after(async () => {
    await opened.close()
    provider.close()
  })

  const read = async (of = path) => (await opened.annex.api('GET', of)).json

  describe('its connection', () => {
    it('shows the provider and the exact callback address before the first connect', async () => {
      await tab.goto(`${siteAt}/connection`)
      const callback = page.getByText(`${opened.annex.url}/x/settled/oauth`, { exact: true })
      await callback.waitFor()
      await page.getByText(new URL(provider.url).host).waitFor()
      await page.getByRole('button', { name: /^Copy .*oauth$/ }).click()
    })

    it('is made in a pop-up window, and shown without a reload', async () => {
      await connect('Connect the account')
      await page.locator('main section', { hasText: 'Connected as' }).getByText('ada@example.com').waitFor()
      assert.equal((await read()).configuration.team, 'a')
    })

    it('is renewed as the same account without a question, and keeps settings', async () => {
      const { since } = (await read()).connections.account
      await connect('Connect again')
      const renewed = await until(read, ({ connections }) => connections.account.since !== since)
      assert.equal(renewed.connections.account.account, 'ada@example.com')
      assert.equal(renewed.configuration.team, 'a')
      await page.getByText('Waiting for the pop-up window').waitFor({ state: 'detached' })
    })

    it('of another account waits for a yes, and a no keeps the one before', async () => {
      provider.signInAs('eve@example.com')
      const other = page.getByText(
        'The provider has connected eve@example.com. The script still uses ada@example.com until you say yes.',
      )
      await connect('Connect again')
      await other.waitFor()
      assert.equal((await read()).connections.account.account, 'ada@example.com')
      const reader = await opened.asMember('home', 'reader', { url: opened.annex.url })
      await reader.goto(`${siteAt}/connection`)
      const use = reader.page.getByRole('button', { name: 'Use eve@example.com' })
      assert.match((await use.getAttribute('title')) ?? '', /role editor/)
      await reader.close()
      assert.deepEqual(await findBarriers(page), [])
      await page.getByRole('button', { name: 'Keep ada@example.com' }).click()
      await page.getByText('ada@example.com stays connected.').waitFor()
      await other.waitFor({ state: 'detached' })
      await connect('Connect again')
      await page.getByRole('button', { name: 'Use eve@example.com' }).click()
      await page.locator('main dl').getByText('eve@example.com', { exact: true }).waitFor()
      await other.waitFor({ state: 'detached' })
      const { connections, configuration } = await read()
      assert.equal(connections.account.account, 'eve@example.com')
      assert.equal(configuration.team, 'a')
      await page.getByRole('button', { name: 'Disconnect' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).click()
      await page.getByText('Not connected').waitFor()
    })

    it('is made in the same window where pop-ups are blocked', async () => {
      await page.addInitScript('window.open = () => null')
      await tab.goto(siteAt)
      await page.getByRole('button', { name: 'Connect the account' }).click()
      await page.waitForURL(/\/connect\//)
      await page.getByRole('button').click()
      await until(read, ({ connections }) => connections.account.state === 'connected')
    })

    /** Presses the button, and says yes on the page of Annex in the pop-up window. */
    async function connect(button: string): Promise<void> {
      const popup = page.waitForEvent('popup')
      await page.getByRole('button', { name: button, exact: true }).click()
      const window = await popup
      await window.getByRole('button').click()
    }
  })

  it('has its tabs in one line on a phone, with the current one in view, and each one by the keyboard', async () => {
    const phone = await opened.asOperator({ url: opened.annex.url, width: 375 })
    await phone.goto(`${at}/log`)
    const tabs = phone.page.getByRole('navigation', { name: 'Parts of the installation' })
    const isInView = (name: string) =>
      tabs.getByRole('link', { name, exact: true }).evaluate((link) => {
        const { left, right } = link.getBoundingClientRect()
        return left >= 0 && right <= 375
      })
    const links = await tabs.getByRole('link').all()
    const tops = await Promise.all(links.map(async (link) => (await link.boundingBox())?.y))
    assert.equal(new Set(tops).size, 1)
    assert.deepEqual([await isInView('Settings'), await isInView('Log')], [false, true])
    await tabs.getByRole('link', { name: 'Log', exact: true }).focus()
    for (const _ of links.slice(1)) await phone.page.keyboard.press('Shift+Tab')
    await phone.page.keyboard.press('Enter')
    await phone.page.locator('#setting-team').waitFor()
    assert.deepEqual([await isInView('Settings'), await isInView('Log')], [true, false])
    assert.deepEqual([await overflowOf(phone.page), await findBarriers(phone.page)], [0, []])
    await phone.close()
  })

  it('is paused and resumed', async () => {
    await tab.goto(at)
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.locator('.head .chip', { hasText: 'Paused' }).waitFor()
    await page.getByText('Paused: events wait for a resume, and the endpoint answers 503.').waitFor()
    await page.locator('#setting-team').getByRole('textbox').fill('held')
    await page.keyboard.press('Enter')
    await page.getByText('Saved. The script gets the event when the installation is resumed.').waitFor()
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.locator('.head .chip', { hasText: 'Active' }).waitFor()
    assert.equal((await read(account)).status, 'active')
  })

  it('has its signing secret rotated: shown once, and ended', async () => {
    await tab.goto(siteAt)
    await page.getByRole('button', { name: 'Rotate the signing secret' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate the signing secret' }).click()
    const secret = (await page.getByRole('dialog').locator('pre').textContent()) ?? ''
    assert.match(secret, /^whsec_/)
    // It is shown once: Escape does not close it.
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'I have copied it' }).click()
    assert.doesNotMatch(await page.content(), new RegExp(secret))
    await page.getByText('The old secret signs too, until').waitFor()
    await page.getByRole('button', { name: 'End the old secret now' }).click()
    await page.getByText('The new secret signs alone.').waitFor()
    await until(read, ({ previousSecretUntil }) => previousSecretUntil === undefined)
  })

  it('asks who is there before a secret is shown, ten minutes after the sign-in', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 11 * 60_000 })
    await tab.goto(siteAt)
    await page.getByRole('button', { name: 'Rotate the signing secret' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate the signing secret' }).click()
    await page.getByRole('heading', { name: 'Is it you?' }).waitFor()
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Confirm' }).click()
    assert.match((await page.locator('dialog pre').textContent()) ?? '', /^whsec_/)
    await page.getByRole('button', { name: 'I have copied it' }).click()
    t.mock.timers.reset()
  })

  it('lists what was agreed to, and takes the agreement to a version that waits', async () => {
    const { annex } = opened
    const more = settingsPlugin(provider.url)
    writePlugin(annex.pluginsDir, 'settled', {
      ...more,
      scopes: ['site:views:read', 'site:metadata:read'],
      more: `${more.more}\n`.replace(
        '      drafts:',
        '      added: { type: string, title: Added }\n      drafts:',
      ),
    })
    await annex.api('POST', '/v1/reload')
    await tab.goto(`${at}/permissions`)
    await page.getByRole('heading', { name: 'Version 2 waits' }).waitFor()
    await page.locator('.attention').getByText('site.added').waitFor()
    assert.match((await page.locator('.attention').textContent()) ?? '', /metadata|title/i)
    // The form is that of the version that runs.
    await tab.goto(siteAt)
    await page.locator('#setting-team').waitFor()
    assert.equal(await page.locator('#setting-added').count(), 0)
    const reader = await opened.asMember('home', 'editor', { url: annex.url })
    await reader.goto(`${at}/permissions`)
    const button = reader.page.getByRole('button', { name: 'Agree, and run version 2' })
    await button.waitFor()
    assert.match((await button.getAttribute('title')) ?? '', /role admin/)
    await reader.close()
    await tab.goto(`${at}/permissions`)
    await page.getByRole('button', { name: 'Agree, and run version 2' }).click()
    await page.getByText('No version waits for your agreement.').waitFor()
    await tab.goto(siteAt)
    await page.locator('#setting-added').waitFor()
  })

  it('says what a rollback changes, rolls back, and unpins', async () => {
    await tab.goto(`${at}/permissions`)
    await page.getByRole('button', { name: 'Roll back to version 1' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('The setting site.added is not there. Its value stays stored.').waitFor()
    await dialog.getByText(/^It does not ask for:/).waitFor()
    await dialog.getByRole('button', { name: 'Roll back to version 1' }).click()
    await page.getByText('Version 1 is deployed and pinned.').waitFor()
    await page.getByRole('button', { name: 'Unpin: deploy the version of the folder' }).click()
    await page.getByText('Version 2 is deployed.').waitFor()
  })

  it('refuses a rollback that breaks what works, with the reasons', async () => {
    const { annex } = opened
    const more = settingsPlugin(provider.url)
    const without = `${more.more}`.replace('required: [address, team]', 'required: []')
    writePlugin(annex.pluginsDir, 'settled', {
      ...more,
      scopes: ['site:views:read', 'site:metadata:read'],
      more: without,
    })
    await annex.api('POST', '/v1/reload')
    await annex.api('DELETE', `${path}/configuration/address`)
    await until(read, ({ status }) => status === 'active')
    await tab.goto(`${at}/permissions`)
    await page.getByRole('button', { name: 'Roll back to version 2' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('It would break what works now, so Annex refuses it:').waitFor()
    await dialog
      .getByText(/is required/)
      .first()
      .waitFor()
    const button = dialog.getByRole('button', { name: 'Roll back to version 2' })
    assert.equal(await button.getAttribute('aria-disabled'), 'true')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
  })

  it('takes the settings of another site, without its secrets', async () => {
    const { annex } = opened
    const site = (await annex.api('POST', '/v1/orgs/home/sites', { slug: 'second', title: 'Second' })).json.id
    await annex.api('POST', `${account}/sites`, { site })
    const other = `${account}/sites/${site}`
    for (const [name, value] of [
      ['team', 'copied'],
      ['speed', 9],
      ['api_key', 'not-copied'],
    ]) {
      await annex.api('PUT', `${other}/configuration/${name}`, { value })
    }
    await annex.api('PUT', `${path}/configuration/api_key`, { value: 'own-secret' })
    await tab.goto(siteAt)
    await page.getByRole('button', { name: 'Copy settings from another place' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Copy 2 settings' }).click()
    await page.getByText('2 settings were copied.').waitFor()
    const { team, speed, api_key } = (await read()).configuration
    assert.deepEqual({ team, speed, api_key }, { team: 'copied', speed: 9, api_key: '[secret]' })
  })

  it('shows what its script logged', async () => {
    await tab.goto(`${at}/log`)
    await page.getByText('team is copied').first().waitFor()
  })

  for (const [colorScheme, width] of [
    ['light', 375],
    ['dark', 1280],
  ] as const) {
    it(`has no barrier on any part, ${colorScheme} at ${width} px`, async () => {
      const shown = await opened.asOperator({ colorScheme, width, url: opened.annex.url, ownSession: true })
      const parts = ['/orgs/home/installations', at, `${siteAt}/connection`, `${at}/permissions`, `${at}/log`]
      for (const part of parts) {
        await shown.goto(part)
        await shown.page.locator('main table, main .card').first().waitFor()
        assert.deepEqual(await findBarriers(shown.page), [], part)
        assert.equal(await overflowOf(shown.page), 0, part)
      }
      assert.deepEqual([shown.said, shown.refused], [[], []])
      await shown.close()
    })
  }

  it('shows no part to another organization', async () => {
    await opened.annex.api('POST', '/v1/orgs', { subdomain: 'other', title: 'Other' })
    const stranger = await opened.asMember('other', 'admin')
    for (const part of ['', '/connection', '/permissions', '/log']) {
      await stranger.goto(at + part)
      await stranger.page.getByRole('alert').first().waitFor()
      assert.doesNotMatch((await stranger.page.locator('main').textContent()) ?? '', /settled|eve@|team is/)
    }
    await stranger.goto('/orgs/other/installations')
    await stranger.page.getByText('No integration is installed in this organization yet.').waitFor()
  })

  it('offers a reader nothing that changes it', async () => {
    const reader = await opened.asMember('home', 'reader')
    await reader.goto(at)
    const button = reader.page.getByRole('button', { name: 'Pause' })
    await button.waitFor()
    assert.match((await button.getAttribute('title')) ?? '', /role editor/)
    await reader.page.locator('.more > summary').click()
    const end = reader.page.getByRole('button', { name: 'Uninstall' })
    assert.match((await end.getAttribute('title')) ?? '', /role admin/)
    await end.click({ force: true })
    assert.equal(await reader.page.getByRole('dialog').count(), 0)
    assert.deepEqual([reader.said, reader.refused], [[], []])
  })

  it('is uninstalled from a site, and then whole, with its name typed', async () => {
    await tab.goto(siteAt)
    await uninstall()
    await page.waitForURL((url) => url.pathname === at)
    await tab.goto(at)
    await uninstall()
    await page.waitForURL((url) => url.pathname === '/orgs/home/installations')
    await page.getByText('No integration is installed in this organization yet.').waitFor()
  })

  async function uninstall(): Promise<void> {
    await page.locator('.more > summary').click()
    await page.getByRole('button', { name: 'Uninstall' }).click()
    const dialog = page.getByRole('dialog')
    const button = dialog.getByRole('button', { name: 'Uninstall' })
    assert.equal(await button.getAttribute('aria-disabled'), 'true')
    await dialog.getByText('its settings, connections and signing secrets').waitFor()
    await dialog.getByRole('textbox').fill('settled')
    await button.click()
  }
})

type Provider = { url: string; signInAs: (account: string) => void; close: () => void }

/** A provider of OAuth that asks nothing, and names the account of the moment. */
async function startProvider(): Promise<Provider> {
  let account = 'ada@example.com'
  const server: Server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://provider.example')
    if (pathname !== '/authorize') {
      const body = JSON.stringify({ access_token: 'a-token', account })
      response.writeHead(200, { 'content-type': 'application/json' }).end(body)
      return
    }
    const back = new URL(searchParams.get('redirect_uri') ?? '')
    back.searchParams.set('code', 'a-code')
    back.searchParams.set('state', searchParams.get('state') ?? '')
    response.writeHead(302, { location: back.href }).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    signInAs(next) {
      account = next
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
