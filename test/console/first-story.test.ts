// cpu: 60 s (it runs a browser)
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { skipWithoutChromium } from '../support/chromium.ts'
import { type OpenConsole, openConsole, pluginsDir, type Tab } from '../support/console.ts'

describe('the first story of the console', { skip: skipWithoutChromium() }, () => {
  let opened: OpenConsole
  let tab: Tab
  before(async () => {
    opened = await openConsole({ pluginsDir })
    tab = await opened.open()
  })
  after(() => opened.close())

  it('leads from the printed link by five clicks to a delivery that is signed and verified', async () => {
    const { page } = tab
    await addAuthenticator(tab)
    const setupUrl = opened.annex.server.setupUrl ?? ''
    assert.ok(setupUrl.startsWith(`${opened.url}/setup#annex_setup_`))
    await page.goto(setupUrl)
    await page.getByLabel('Email').fill('ada@example.com')
    let clicks = 0
    const click = async (name: string) => {
      clicks += 1
      await page.getByRole('button', { name, exact: true }).click()
    }
    await click('Create account with a passkey')
    await page.waitForURL(`${opened.url}/orgs/home`)
    await click('Install Webhooks in Sample site')
    await page.getByText('Webhooks is installed in Sample site.').waitFor()
    await click('Publish an event')
    await page.getByText('Signature verified').waitFor()
    await page.getByText('Delivered. The receiver has it.').waitFor()
    clicks += 1
    await page.getByRole('link', { name: 'Open the delivery' }).click()
    await page.getByRole('heading', { name: 'Delivery of site_view' }).waitFor()
    await page.getByText('The receiver answered 200').waitFor()
    assert.ok(clicks <= 5, `${clicks} clicks`)
    assert.deepEqual(tab.said, [])
    // The page asks who is signed in before there is an account.
    assert.deepEqual(tab.refused, [401])
  })

  it('uses the link once: it makes no second operator', async () => {
    const other = await opened.open()
    await other.goto(opened.annex.server.setupUrl ?? '')
    await other.page.getByText('If there is no operator yet, start Annex again').waitFor()
    assert.equal(await other.page.locator('form').count(), 0)
    await other.close()
  })

  it('signs in by the passkey again', async () => {
    const { page } = tab
    await page.goto('/account')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.waitForURL(`${opened.url}/orgs/home`)
  })
})

/** Makes passkeys as a device does whose owner agrees to all. */
async function addAuthenticator({ context, page }: Tab): Promise<void> {
  const devTools = await context.newCDPSession(page)
  await devTools.send('WebAuthn.enable')
  await devTools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
}
