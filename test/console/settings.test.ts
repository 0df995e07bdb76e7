// tier: console (each kind of setting in a browser)
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { installSample, type Json, until } from '../support/annex.ts'
import { findBarriers, overflowOf } from '../support/axe.ts'
import { skipWithoutChromium } from '../support/chromium.ts'
import { type OpenConsole, openConsole, readMotion, type Tab } from '../support/console.ts'
import { settingsPlugin } from '../support/settings-plugin.ts'

describe('the settings of an installation', { skip: skipWithoutChromium() }, () => {
  let opened: OpenConsole
  let tab: Tab
  let page: Page
  let path: string
  let account: string
  let at: string
  let endpoint: string
  before(async () => {
    opened = await openConsole({ plugins: { settled: settingsPlugin('http://127.0.0.1:1') } })
    const { annex } = opened
    const installed = await installSample(annex, 'settled', 'site')
    path = installed.path
    endpoint = installed.endpoint
    account = path.replace(/\/sites\/.*/, '')
    at = `/orgs/home/installations/${installed.id}/sites/${annex.server.samples.site}`
    await annex.api('PUT', `${account}/configuration/team`, { value: 'docs' })
    tab = await opened.asOperator()
    page = tab.page
    await tab.goto(at)
  })
  after(() => opened.close())

  const row = (name: string, of = page) => of.locator(`#setting-${name}`)
  const stored = async (): Promise<Json> => (await opened.annex.api('GET', path)).json.configuration
  const fill = async (name: string, text: string, of = page) => {
    await row(name, of).getByRole('textbox').fill(text)
    await row(name, of).getByRole('textbox').press('Enter')
  }

  it('say what the installation waits for, and what the organization gives', async () => {
    await page.getByText('Waits for the setting Address.').waitFor()
    await row('address').getByText('Address is required.').waitFor()
    await row('team').getByText('From the organization: docs').waitFor()
    await row('speed').getByText('Default: 200').waitFor()
    assert.deepEqual([tab.said, tab.refused], [[], []])
  })

  it('turn the installation from pending to active on the open page', async () => {
    await page.locator('.head .chip', { hasText: 'Pending' }).waitFor()
    await fill('address', '  https://example.com/hook ')
    await page.locator('.head .chip', { hasText: 'Active' }).waitFor()
    await row('address')
      .getByText(/Saved · the script answered in \d+ ms/)
      .waitFor()
    assert.equal((await stored()).address, 'https://example.com/hook')
  })

  /** A wrong value is refused beside its setting, and what was typed stays. */
  const wrong = [
    ['address', 'no address', /must be a web address/],
    ['address', 'javascript:alert(1)', /must be a web address/],
    ['speed', '1,5', /Write a number such as/],
    ['speed', '0x10', /Write a number such as/],
    ['speed', '1e999', /Write a number such as/],
    ['speed', 'Infinity', /Write a number such as/],
    ['speed', '9007199254740993', /must lie within/],
    ['api_key', '[secret]', /Type the secret itself/],
    ['team', 'x'.repeat(10_001), /at most 10000/],
  ] as const
  for (const [name, text, message] of wrong) {
    it(`of ${name} refuse ${text.slice(0, 20)}`, async () => {
      const before = await stored()
      await fill(name, text)
      await row(name).getByText(message).waitFor()
      const field = row(name).getByRole('textbox')
      assert.equal(await field.inputValue(), text)
      assert.equal(await field.getAttribute('aria-invalid'), 'true')
      assert.deepEqual(await stored(), before)
      if (name === 'api_key') return field.fill('')
      await row(name).getByRole('button', { name: 'Discard' }).click()
      await row(name).getByText(message).waitFor({ state: 'detached' })
    })
  }

  it('keep what is typed before the page shows that the edit before is discarded', async () => {
    await row('team').getByRole('textbox').fill('first')
    await row('team').getByRole('button', { name: 'Discard' }).waitFor()
    await page.evaluate(`(async () => {
      const row = document.querySelector('#setting-team')
      const field = row.querySelector('textarea')
      const discard = [...row.querySelectorAll('button')].find(({ textContent }) => textContent === 'Discard')
      discard.click()
      await new Promise((resolve) => setTimeout(resolve))
      field.value = 'second'
      field.dispatchEvent(new Event('input', { bubbles: true }))
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
    })()`)
    assert.equal(await row('team').getByRole('textbox').inputValue(), 'second')
    await row('team').getByRole('button', { name: 'Discard' }).click()
    await row('team').getByRole('button', { name: 'Discard' }).waitFor({ state: 'detached' })
  })

  for (const [name, first] of [
    ['team', 'first'],
    ['api_key', 'first-secret'],
  ] as const) {
    it(`of ${name} keep what is typed while the value before is saved`, async () => {
      const { promise: released, resolve: release } = Promise.withResolvers<void>()
      await page.route(`**/configuration/${name}`, async (route) => {
        await released
        await route.continue()
      })
      await fill(name, first)
      await row(name).getByRole('textbox').fill('second')
      release()
      await row(name)
        .getByText(/^Saved/)
        .waitFor()
      assert.equal(await row(name).getByRole('textbox').inputValue(), 'second')
      await page.unroute(`**/configuration/${name}`)
      await row(name).getByRole('button', { name: 'Discard' }).click()
      await row(name).getByRole('button', { name: 'Clear' }).click()
      await until(stored, (values) => values[name] === undefined)
    })
  }

  const right = [
    ['team', 'api', 'api'],
    ['team', 'عربي <b>', 'عربي <b>'],
    ['team', ' spaces ', ' spaces '],
    ['speed', '-1.5', -1.5],
    ['speed', '1e3', 1000],
    ['speed', '0', 0],
    ['address', 'HTTP://example.com/b', 'HTTP://example.com/b'],
  ] as const
  for (const [name, text, value] of right) {
    it(`of ${name} take ${text}`, async () => {
      await fill(name, text)
      await row(name)
        .getByText(/^Saved/)
        .waitFor()
      await until(stored, (values) => values[name] === value)
      await until(
        () => row(name).getByRole('textbox').inputValue(),
        (shown) => shown === String(value),
      )
    })
  }

  it('have no value of their own once a field is emptied or cleared', async () => {
    await fill('team', '')
    await row('team').getByText('From the organization: docs').waitFor()
    assert.equal((await stored()).team, undefined)
    await fill('speed', '7')
    await row('speed').getByRole('button', { name: 'Clear' }).click()
    await row('speed').getByText('Default: 200').waitFor()
    assert.equal((await stored()).speed, undefined)
  })

  it('are saved one after the other, however fast one types', async () => {
    await row('team').getByRole('textbox').fill('first')
    await row('team').getByRole('textbox').press('Enter')
    await row('team').getByRole('textbox').fill('second')
    await row('team').getByRole('textbox').press('Enter')
    await row('headings').getByRole('switch').click()
    await row('team').getByRole('textbox').fill('third')
    await row('team').getByRole('textbox').press('Enter')
    await until(stored, ({ team, headings }) => team === 'third' && headings === false)
    await row('team')
      .getByText(/Saved · the script answered/)
      .waitFor()
    assert.equal(await page.getByText('Another person').count(), 0)
    await row('headings').getByRole('button', { name: 'Clear' }).click()
    await until(stored, ({ headings }) => headings === undefined)
  })

  it('of one person are no conflict with each other, for a secret either', async () => {
    await row('api_key').getByRole('textbox').fill('a-secret')
    await fill('speed', '8')
    await until(stored, ({ speed }) => speed === 8)
    await row('api_key').getByRole('textbox').press('Enter')
    await row('api_key')
      .getByText(/^Saved/)
      .waitFor()
    await row('api_key').getByRole('button', { name: 'Clear API key' }).click()
    await until(stored, ({ api_key }) => api_key === undefined)
  })

  it('keep the lines of a text', async () => {
    await row('team').getByRole('textbox').fill('one\ntwo')
    await row('team').getByRole('button', { name: /Save/ }).click()
    await row('team')
      .getByText(/^Saved/)
      .waitFor()
    assert.equal((await stored()).team, 'one\ntwo')
  })

  it('that are toggles are saved by one press, and can be off where nothing is set', async () => {
    const headings = row('headings').getByRole('switch', { name: 'Count headings' })
    assert.equal(await headings.isChecked(), true)
    await headings.click()
    await row('headings')
      .getByText(/^Saved/)
      .waitFor()
    assert.equal((await stored()).headings, false)
    await row('drafts').getByRole('button', { name: 'Set to off' }).click()
    await row('drafts')
      .getByText(/^Saved/)
      .waitFor()
    assert.equal((await stored()).drafts, false)
    await row('drafts').getByRole('switch').press('Space')
    await until(stored, ({ drafts }) => drafts === true)
  })

  it('that are toggles move for who likes it, and jump for who asks the browser for less motion', async () => {
    const toggle = "document.querySelector('#setting-headings input'), '::before'"
    assert.deepEqual(await readMotion(page, toggle), { 'no-preference': '0.12s', reduce: '0s' })
  })

  it('that are choices offer those of the manifest, and none', async () => {
    const select = row('region').getByRole('combobox', { name: 'Region' })
    assert.deepEqual(await select.locator('option').allTextContents(), ['Not set', 'eu', 'us', 'ap'])
    await select.selectOption('us')
    await row('region')
      .getByText(/^Saved/)
      .waitFor()
    assert.equal((await stored()).region, 'us')
    await select.selectOption('Not set')
    await until(stored, ({ region }) => region === undefined)
  })

  it('that are choices of the script are searched, paged and typed', async () => {
    const channel = row('channel')
    await channel.getByRole('button', { name: 'Choose Channel' }).click()
    await channel.getByRole('button', { name: 'Channel 2' }).waitFor()
    assert.equal(await channel.getByRole('button', { name: 'Channel 4' }).count(), 0)
    await channel.getByRole('button', { name: 'More choices' }).click()
    await channel.getByRole('button', { name: 'Channel 4' }).waitFor()
    await channel.getByRole('textbox', { name: 'Search' }).fill('3')
    await channel.getByRole('button', { name: 'Channel 2' }).waitFor({ state: 'detached' })
    await channel.getByRole('button', { name: 'Channel 3' }).click()
    await channel.getByText(/^Saved/).waitFor()
    await channel.getByText('Channel 3').waitFor()
    assert.equal((await stored()).channel, 'c3')
    await channel.getByRole('button', { name: 'Choose Channel' }).click()
    await channel.getByRole('textbox', { name: 'Search' }).fill('own-channel')
    await channel.getByRole('button', { name: 'Use “own-channel” as it is' }).click()
    await channel.getByText('No list of choices has had this value yet.').waitFor()
    assert.equal((await stored()).channel, 'own-channel')
  })

  it('that are secret are set, replaced and cleared, and never shown', async () => {
    const key = row('api_key')
    await fill('api_key', 'first-secret\nof two lines')
    await key.getByText('Set. It is not shown again.').waitFor()
    assert.equal((await stored()).api_key, '[secret]')
    await page.reload()
    await key.getByText('Set. It is not shown again.').waitFor()
    assert.doesNotMatch(await page.content(), /first-secret/)
    await key.getByRole('button', { name: 'Replace API key' }).click()
    await fill('api_key', 'second-secret')
    await key.getByText(/^Saved/).waitFor()
    await key.getByRole('button', { name: 'Clear API key' }).click()
    await key.getByRole('textbox').waitFor()
    assert.equal((await stored()).api_key, undefined)
  })

  it('tell that the script failed, with the line that it logged', async () => {
    await fill('team', 'wrong')
    await row('team').getByText('Saved, but the script failed:').waitFor()
    await row('team').getByText('Error: there is no team called wrong').first().waitFor()
    assert.equal((await stored()).team, 'wrong')
    await fill('team', 'api')
    await row('team')
      .getByText(/Saved · the script answered/)
      .waitFor()
  })

  it('list what the script has stored by name, and clear it', async () => {
    assert.equal(await (await fetch(`${endpoint}/store`)).text(), '200')
    await page.reload()
    await page.getByRole('button', { name: 'Clear cursor' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Clear cursor' }).click()
    await page.getByText('cursor was cleared.').waitFor()
    await page.getByRole('heading', { name: 'Stored by the script' }).waitFor({ state: 'detached' })
    assert.doesNotMatch(await page.content(), /stored-cursor/)
  })

  describe('of two people', () => {
    const other = (name: string, value: unknown) =>
      opened.annex.api('PUT', `${path}/configuration/${name}`, { value })
    /** Types, and saves after another person has saved. */
    const typeDuring = async (name: string, text: string, act: () => Promise<unknown>) => {
      await page.reload()
      await row(name).getByRole('textbox').fill(text)
      await act()
      await row(name).getByRole('textbox').press('Enter')
    }

    it('who edit two settings are both saved, without a question', async () => {
      await typeDuring('team', 'mine', () => other('speed', 42))
      await row('team')
        .getByText(/Saved · the script answered/)
        .waitFor()
      const { team, speed } = await stored()
      assert.deepEqual({ team, speed }, { team: 'mine', speed: 42 })
    })

    it('who edit one setting see both values, and the second one chooses', async () => {
      await typeDuring('team', 'mine again', () => other('team', 'theirs'))
      await row('team').getByText('Another person has changed this setting since you began.').waitFor()
      assert.match((await row('team').textContent()) ?? '', /Yoursmine againTheirstheirs/)
      assert.equal((await stored()).team, 'theirs')
      await row('team').getByRole('button', { name: 'Save mine' }).click()
      await row('team')
        .getByText(/Saved · the script answered/)
        .waitFor()
      assert.equal((await stored()).team, 'mine again')
    })

    it('who edit one setting may keep the other value', async () => {
      await typeDuring('team', 'mine', () => other('team', 'theirs again'))
      await row('team').getByRole('button', { name: 'Keep theirs' }).click()
      await until(
        () => row('team').getByRole('textbox').inputValue(),
        (value) => value === 'theirs again',
      )
      assert.equal((await stored()).team, 'theirs again')
    })

    it('who enter the same value agree', async () => {
      await typeDuring('team', 'same', () => other('team', 'same'))
      await row('team')
        .getByText(/^Saved/)
        .waitFor()
    })

    it('who replace one secret are asked, as a page cannot compare secrets', async () => {
      await other('api_key', 'zero')
      await page.reload()
      await row('api_key').getByRole('button', { name: 'Replace API key' }).click()
      await row('api_key').getByRole('textbox').fill('mine')
      await other('api_key', 'theirs')
      await row('api_key').getByRole('textbox').press('Enter')
      await row('api_key')
        .getByText(/Whether this secret is among them cannot be shown/)
        .waitFor()
      await row('api_key').getByRole('button', { name: 'Save mine' }).click()
      await row('api_key')
        .getByText(/^Saved/)
        .waitFor()
    })

    it('of whom one removes what the other edits', async () => {
      await other('speed', 5)
      await typeDuring('speed', '6', () => opened.annex.api('DELETE', `${path}/configuration/speed`))
      assert.match((await row('speed').getByRole('alert').textContent()) ?? '', /Yours6Theirsnothing/)
      await row('speed').getByRole('button', { name: 'Save mine' }).click()
      await row('speed')
        .getByText(/^Saved/)
        .waitFor()
      assert.equal((await stored()).speed, 6)
    })
  })

  it('say of a reader why nothing can be changed', async () => {
    const reader = await opened.asMember('home', 'reader')
    await reader.goto(at)
    const field = row('team', reader.page).getByRole('textbox')
    await field.waitFor()
    assert.equal(await field.getAttribute('readonly'), '')
    for (const name of ['headings', 'drafts']) {
      const control = row(name, reader.page).getByRole('switch')
      const before = await control.isChecked()
      await control.click({ force: true })
      assert.match((await control.getAttribute('title')) ?? '', /role editor/)
      assert.equal(await control.isChecked(), before)
    }
    assert.deepEqual([reader.said, reader.refused], [[], []])
  })

  it('show nothing to another organization', async () => {
    await opened.annex.api('POST', '/v1/orgs', { subdomain: 'other', title: 'Other' })
    const stranger = await opened.asMember('other', 'admin')
    for (const org of ['home', 'other']) {
      await stranger.goto(at.replace('home', org))
      await stranger.page.getByRole('alert').first().waitFor()
      assert.doesNotMatch(
        (await stranger.page.locator('main').textContent()) ?? '',
        /Team|example\.com|settled/,
      )
    }
  })

  for (const [colorScheme, width] of [
    ['light', 375],
    ['dark', 1280],
  ] as const) {
    it(`have no barrier and no overflow, ${colorScheme} at ${width} px`, async () => {
      const shown = await opened.asOperator({ colorScheme, width })
      await shown.goto(at)
      await row('account', shown.page).waitFor()
      await fill('address', 'wrong', shown.page)
      await row('address', shown.page)
        .getByText(/must be a web address/)
        .waitFor()
      assert.deepEqual(await findBarriers(shown.page), [])
      assert.equal(await overflowOf(shown.page), 0)
      assert.deepEqual(shown.said, [])
    })
  }
})
