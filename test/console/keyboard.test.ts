// tier: console (a browser is used by its keyboard alone)
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { skipWithoutChromium } from '../support/chromium.ts'
import { type OpenConsole, openConsole, password, pluginsDir, type Tab } from '../support/console.ts'

describe('the first story by keyboard alone', { skip: skipWithoutChromium() }, () => {
  let opened: OpenConsole
  let tab: Tab
  before(async () => {
    opened = await openConsole({ pluginsDir })
    tab = await opened.open()
  })
  after(() => opened.close())

  /** What has the focus, and whether a person sees that. */
  const readFocus = async (): Promise<{ name: string; isSeen: boolean }> =>
    tab.page.evaluate(`(() => {
      const element = document.activeElement
      const label = element.labels?.[0] ?? element
      const { outlineStyle, outlineWidth } = getComputedStyle(element)
      return {
        name: label.textContent.trim(),
        isSeen: outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2,
      }
    })()`)

  /** Presses Tab until the control has the focus. */
  async function tabTo(wanted: string): Promise<void> {
    const passed: string[] = []
    for (let n = 0; n < 40; n++) {
      await tab.page.keyboard.press('Tab')
      const { name, isSeen } = await readFocus()
      if (name === wanted) {
        assert.ok(isSeen, `the focus at "${wanted}" cannot be seen`)
        return
      }
      passed.push(name)
    }
    assert.fail(`Tab does not reach "${wanted}", but ${passed.join(', ')}`)
  }

  it('makes the account with a password', async () => {
    const { page } = tab
    await page.goto(opened.annex.server.setupUrl ?? '')
    await page.getByRole('heading', { name: 'Make your account' }).waitFor()
    await page.getByLabel('Email').waitFor()
    await tabTo('Email')
    await page.keyboard.type('ada@example.com')
    await tabTo('Use a password instead')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('Shift+Tab')
    assert.equal((await readFocus()).name, 'New password')
    await page.keyboard.type(password)
    await page.keyboard.press('Enter')
    await page.waitForURL(`${opened.url}/orgs/home`)
  })

  it('installs, publishes and opens the delivery', async () => {
    const { page } = tab
    await page.getByRole('button', { name: 'Install Webhooks in Sample site' }).waitFor()
    await tabTo('Install Webhooks in Sample site')
    await page.keyboard.press('Enter')
    await page.getByText('Webhooks is installed in Sample site.').waitFor()
    await tabTo('Publish an event')
    await page.keyboard.press('Space')
    await page.getByText('Signature verified').waitFor()
    await tabTo('Open the delivery')
    await page.keyboard.press('Enter')
    await page.getByText('The receiver answered 200').waitFor()
    // A screen reader begins at the new page.
    assert.match((await readFocus()).name, /^Delivery of/)
    assert.deepEqual(tab.said, [])
  })

  it('skips the navigation by the first link, and closes a dialog by Escape', async () => {
    const { page } = tab
    await tab.goto('/orgs/home/members')
    await page.keyboard.press('Tab')
    await tabTo('Make an invitation')
    await page.getByLabel('Email').fill('bob@example.com')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').getByText('It works once').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.goto('/orgs/home')
    await page.getByRole('heading', { name: 'Home' }).waitFor()
    await tabTo('Skip to the page')
    await page.keyboard.press('Enter')
    await page.waitForURL(/#main$/)
  })
})
