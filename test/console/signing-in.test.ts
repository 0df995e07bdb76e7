// tier: console (it signs in again and again)
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { skipWithoutChromium } from '../support/chromium.ts'
import { type OpenConsole, openConsole, password, type Tab } from '../support/console.ts'

const skip = skipWithoutChromium()
const email = 'olga@example.com'

describe('signing in to the console', { skip }, () => {
  let opened: OpenConsole
  before(async () => {
    opened = await openConsole()
    await (await opened.asOperator()).close()
  })
  after(() => opened.close())

  const fill = async ({ page }: Tab, given: { email?: string; password: string }) => {
    if (given.email !== undefined) await page.getByLabel('Email').fill(given.email)
    await page.getByLabel('Password', { exact: true }).fill(given.password)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  }

  it('leads back to the page that asked, with its query', async () => {
    const tab = await opened.open()
    await tab.page.goto('/orgs/home/deliveries?state=failed')
    await fill(tab, { email, password })
    await tab.page.waitForURL(`${opened.url}/orgs/home/deliveries?state=failed`)
    await tab.page.getByRole('heading', { name: 'Deliveries' }).waitFor()
    assert.deepEqual(tab.said, [])
    await tab.close()
  })

  const lures = [
    'https://evil.example/',
    '//evil.example/',
    '/\\evil.example',
    'javascript:alert(1)',
    '\t//evil.example',
  ]
  it('leads nowhere else by `next`', async () => {
    const tab = await opened.asOperator()
    for (const lure of lures) {
      await tab.page.goto(`/sign-in?next=${encodeURIComponent(lure)}`)
      await tab.page.waitForURL((url) => url.pathname !== '/sign-in')
      assert.equal(new URL(tab.page.url()).origin, opened.url, lure)
      await tab.page.locator('h1').waitFor()
    }
    await tab.page.goto(`/sign-in?next=${encodeURIComponent('/account?a=b')}`)
    await tab.page.waitForURL(`${opened.url}/account?a=b`)
    await tab.close()
  })

  it('says that email or password are wrong, and keeps both', async () => {
    const tab = await opened.open()
    await tab.goto('/sign-in')
    for (const wrong of [
      { email, password: 'a wrong sentence' },
      { email: 'none@example.com', password },
    ]) {
      await fill(tab, wrong)
      await tab.page.getByRole('alert').waitFor()
      assert.equal(await tab.page.getByLabel('Email').inputValue(), wrong.email)
      assert.equal(await tab.page.getByLabel('Password', { exact: true }).inputValue(), wrong.password)
      assert.equal(await tab.page.getByRole('dialog').count(), 0)
    }
    await fill(tab, { email, password })
    await tab.page.waitForURL(`${opened.url}/orgs/home`)
    await tab.close()
  })

  it('opens above the page when the session has ended, and sends what was typed', async () => {
    const tab = await opened.asOperator()
    const { page } = tab
    await tab.goto('/account')
    await page.getByLabel('Name').fill('Olga Long Name')
    await tab.context.clearCookies()
    await page.getByRole('button', { name: 'Save profile' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Your session has ended').waitFor()
    assert.equal(await page.getByLabel('Name').inputValue(), 'Olga Long Name')
    await page.keyboard.press('Escape')
    assert.equal(await dialog.count(), 1, 'the page cannot go on without a session')
    await dialog.getByLabel('Password', { exact: true }).fill(password)
    await dialog.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByText('Profile saved.').waitFor()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Olga Long Name' }).waitFor()
    assert.deepEqual(tab.said, [])
    await tab.close()
  })

  it('asks again for the password before it changes who may do what, ten minutes after', async (t) => {
    const tab = await opened.asOperator({ ownSession: true })
    const { page } = tab
    await tab.goto('/orgs/home/members')
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 601_000 })
    await page.getByLabel('Email').fill('bob@example.com')
    const invite = page.getByRole('button', { name: 'Make an invitation' })
    await invite.click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Is it you?').waitFor()
    // The person leaves: nothing is changed, and what was typed stays.
    await page.keyboard.press('Escape')
    await page.getByRole('alert').waitFor()
    assert.equal(await page.getByLabel('Email').inputValue(), 'bob@example.com')
    await invite.click()
    await dialog.getByLabel('Password', { exact: true }).fill('a wrong sentence')
    await dialog.getByRole('button', { name: 'Confirm' }).click()
    await dialog.getByRole('alert').waitFor()
    await dialog.getByLabel('Password', { exact: true }).fill(password)
    await dialog.getByRole('button', { name: 'Confirm' }).click()
    await page.getByRole('heading', { name: 'Invitation for bob@example.com' }).waitFor()
    assert.match((await dialog.locator('pre').textContent()) ?? '', /\/join#annex_invite_\S+$/)
    await tab.close()
  })

  it('asks to sign in when the session ends while it asks for the password, and keeps what was typed', async (t) => {
    const tab = await opened.asOperator({ ownSession: true })
    const { page } = tab
    await tab.goto('/orgs/home/members')
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 601_000 })
    await page.getByLabel('Email').fill('kept@example.com')
    await page.getByRole('button', { name: 'Make an invitation' }).click()
    const asks = page.getByRole('dialog', { name: 'Is it you?' })
    await asks.getByLabel('Password', { exact: true }).waitFor()
    await page.evaluate(() => fetch('/v1/sessions/current', { method: 'DELETE' }))
    await asks.getByLabel('Password', { exact: true }).fill(password)
    await asks.getByRole('button', { name: 'Confirm' }).click()
    const signsIn = page.getByRole('dialog', { name: 'Sign in again' })
    assert.equal(await page.getByLabel('Email').first().inputValue(), 'kept@example.com')
    await signsIn.getByLabel('Password', { exact: true }).fill(password)
    await signsIn.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('heading', { name: 'Invitation for kept@example.com' }).waitFor()
    assert.deepEqual(tab.said, [])
    await tab.close()
  })

  it('says at an IP address why a passkey is not possible, and takes the password', async () => {
    const tab = await opened.open({ url: opened.annex.url })
    await tab.goto('/sign-in')
    await tab.page.getByText('A passkey belongs to the name of a host').waitFor()
    await tab.page.getByText(opened.url).first().waitFor()
    assert.equal(await tab.page.getByRole('button', { name: 'Sign in with a passkey' }).count(), 0)
    await fill(tab, { email, password })
    await tab.page.waitForURL(`${opened.annex.url}/orgs/home`)
    await tab.close()
  })

  it('warns at a name of the network without https, and takes the password', async () => {
    const url = opened.url.replace('localhost', 'annex.lan')
    const tab = await opened.open({ url })
    await tab.goto('/sign-in')
    await tab.page.getByText('This connection is not encrypted').waitFor()
    await tab.page.getByText('A passkey needs https').waitFor()
    await fill(tab, { email, password })
    await tab.page.waitForURL(`${url}/orgs/home`)
    await tab.close()
  })

  it('ends at Sign out, in the browser and on the host', async () => {
    const tab = await opened.asOperator({ ownSession: true })
    const isSession = ({ name }: { name: string }) => name.includes('session')
    const cookies = (await tab.context.cookies()).filter(isSession)
    assert.equal(cookies.length, 1)
    await tab.goto('/account')
    await tab.page.getByRole('button', { name: 'Sign out' }).click()
    await tab.page.waitForURL(/\/sign-in/)
    assert.deepEqual((await tab.context.cookies()).filter(isSession), [])
    await tab.context.addCookies(cookies)
    await tab.page.goto('/account')
    await tab.page.waitForURL(/\/sign-in/)
    await tab.close()
  })
})

describe('links of the console that work once', { skip }, () => {
  let opened: OpenConsole
  let operator: Tab
  before(async () => {
    opened = await openConsole()
    operator = await opened.asOperator()
  })
  after(() => opened.close())

  /** Invites by the page of members. @returns the address of the invitation */
  async function invite(person: string, role: string): Promise<string> {
    const { page } = operator
    await operator.goto('/orgs/home/members')
    await page.getByLabel('Email').fill(person)
    await page.getByLabel('Role', { exact: true }).selectOption(role)
    await page.getByRole('button', { name: 'Make an invitation' }).click()
    const shown = page.getByRole('dialog').locator('pre')
    return (await shown.textContent()) ?? ''
  }

  it('invites a new person with a role, once', async () => {
    const url = await invite('rita@example.com', 'reader')
    const tab = await opened.open()
    await tab.page.goto(url)
    await tab.page.getByText('You are invited to Home as a reader').waitFor()
    await tab.page.getByRole('button', { name: 'Use a password instead' }).click()
    await tab.page.getByLabel('New password').fill(password)
    await tab.page.getByRole('button', { name: 'Create account with this password' }).click()
    await tab.page.waitForURL(`${opened.url}/orgs/home`)
    assert.deepEqual(tab.said, [])
    await tab.page.goto(url)
    await tab.page.getByRole('heading', { name: 'This link does not work' }).waitFor()
    await tab.close()
    await operator.goto('/orgs/home/members')
    await operator.page.getByText('Joined').waitFor()
  })

  it('lets a person with an account join with it, and switch between organizations', async () => {
    await opened.annex.api('POST', '/v1/orgs', { subdomain: 'acme', title: 'Acme' })
    const tab = await opened.asMember('acme', 'admin')
    await tab.page.goto(await invite('other@example.com', 'editor'))
    await tab.page.getByRole('button', { name: 'Join as admin' }).click()
    await tab.page.waitForURL(`${opened.url}/orgs/home`)
    await tab.page.getByRole('combobox', { name: 'Organization' }).selectOption('acme')
    await tab.page.waitForURL(`${opened.url}/orgs/acme`)
    await tab.page.getByRole('heading', { name: 'Acme' }).waitFor()
    await tab.goto('/')
    await tab.page.waitForURL(`${opened.url}/orgs/acme`)
    await tab.close()
  })

  it('removes a member whose email was typed', async () => {
    const { page } = operator
    await operator.goto('/orgs/home/members')
    await page.getByRole('button', { name: 'Remove rita@example.com' }).click()
    const dialog = page.getByRole('dialog')
    const button = dialog.getByRole('button', { name: 'Remove rita@example.com' })
    await button.click({ force: true })
    assert.equal(await button.getAttribute('aria-disabled'), 'true')
    await dialog.getByLabel('Email').fill('rita@example.com')
    await button.click()
    await page.getByText('rita@example.com was removed.').waitFor()
    await page.getByRole('cell', { name: 'rita@example.com', exact: true }).waitFor({ state: 'detached' })
  })

  it('gives a lost account a new way in, and ends its sessions', async () => {
    const { annex } = opened
    const { url } = await annex.client.call('POST /v1/resets/links', { body: { email } })
    const tab = await opened.open()
    await tab.page.goto(`${opened.url}/reset#${url.split('#')[1]}`)
    await tab.page.getByText(`For ${email}`).waitFor()
    await tab.page.getByRole('button', { name: 'Use a password instead' }).click()
    await tab.page.getByLabel('New password').fill('another long sentence')
    await tab.page.getByRole('button', { name: 'Set this password' }).click()
    await tab.page.waitForURL(`${opened.url}/orgs/home`)
    await operator.page.goto('/account')
    await operator.page.waitForURL(/\/sign-in/)
    await tab.close()
  })
})
