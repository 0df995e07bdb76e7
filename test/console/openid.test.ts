// tier: console (it signs in again and again)
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { findBarriers, overflowOf } from '../support/axe.ts'
import { skipWithoutChromium } from '../support/chromium.ts'
import { type OpenConsole, openConsole, type Tab, type TabOptions } from '../support/console.ts'
import { type OidcProvider, startOidcProvider } from '../support/oidc-provider.ts'

const skip = skipWithoutChromium()
const button = 'Sign in with Example Login'

describe('signing in by an OpenID provider in the console', { skip }, () => {
  let opened: OpenConsole
  let provider: OidcProvider
  const groups: Record<string, string[]> = { ada: ['engineering'], olga: ['engineering'], eve: [] }
  before(async () => {
    // The browser is at localhost, and the provider at 127.0.0.1: another site.
    provider = await startOidcProvider({
      authMethod: 'client_secret_basic',
      claimsOf: (user) => ({ name: user, groups: groups[user] }),
    })
    opened = await openConsole({
      flags: {
        OPENID_ISSUER: provider.url,
        OPENID_CLIENT_ID: 'annex',
        OPENID_CLIENT_SECRET: 'secret-of-the-client',
        OPENID_NAME: 'Example Login',
        OPENID_SCOPES: 'profile,email,groups',
        OPENID_ROLES: 'engineering=home:admin',
      },
    })
    provider.register([`${opened.url}/sign-in/openid`])
    await (await opened.asOperator()).close()
  })
  after(async () => {
    await opened.close()
    provider.close()
  })

  async function openAs(user: string, options?: TabOptions): Promise<Tab> {
    const tab = await opened.open(options)
    await tab.context.addCookies([{ name: 'as', value: user, url: provider.url }])
    return tab
  }

  const signIn = async ({ page, goto }: Tab, next: string) => {
    await goto(`/sign-in?next=${encodeURIComponent(next)}`)
    await page.getByRole('button', { name: button }).click()
  }

  it('leads back to the page that asked, and the account shows who one is there', async () => {
    const tab = await openAs('ada')
    await signIn(tab, '/account?a=b')
    await tab.page.waitForURL(`${opened.url}/account?a=b`)
    await tab.page.getByText('Example Login has made this account').waitFor()
    await tab.page.getByText(provider.url, { exact: true }).waitFor()
    await tab.page.getByText('ada', { exact: true }).first().waitFor()
    assert.equal(await tab.page.getByRole('button', { name: 'Add a passkey' }).count(), 0)
    for (const colorScheme of ['light', 'dark'] as const) {
      await tab.page.emulateMedia({ colorScheme })
      assert.deepEqual(await findBarriers(tab.page), [])
    }
    assert.deepEqual(tab.said, [])
    await tab.close()
  })

  it('confirms in a tab beside the page, which keeps what was typed', async () => {
    const tab = await openAs('ada')
    await signIn(tab, '/orgs/home/members')
    await tab.page.waitForURL(`${opened.url}/orgs/home/members`)
    await tab.page.getByRole('table').waitFor()
    await tab.page.getByLabel('Email').fill('new@example.com')
    await tab.page.getByRole('button', { name: 'Make an invitation' }).click()
    const dialog = tab.page.getByRole('dialog', { name: 'Is it you?' })
    assert.equal(await dialog.getByLabel('Password').count(), 0, 'the account has no password')
    const beside = tab.context.waitForEvent('page')
    await dialog.getByRole('link', { name: 'Confirm with Example Login' }).click()
    const closed = (await beside).waitForEvent('close')
    await tab.page.getByRole('dialog', { name: 'Invitation for new@example.com' }).waitFor()
    await closed
    assert.deepEqual(tab.said, [])
    await tab.close()
  })

  it('signs in and confirms when the session ends before the confirmation', async () => {
    const tab = await openAs('ada')
    await signIn(tab, '/orgs/home/members')
    // The form moves down when the table is there.
    await tab.page.getByRole('table').waitFor()
    await tab.page.getByLabel('Email').fill('late@example.com')
    await tab.page.getByRole('button', { name: 'Make an invitation' }).click()
    const link = tab.page.getByRole('dialog').getByRole('link', { name: 'Confirm with Example Login' })
    for (const isEnded of [true, false]) {
      await link.waitFor()
      if (isEnded) await tab.page.evaluate(() => fetch('/v1/sessions/current', { method: 'DELETE' }))
      const beside = tab.context.waitForEvent('page')
      await link.click()
      await (await beside).waitForEvent('close')
    }
    await tab.page.getByRole('dialog', { name: 'Invitation for late@example.com' }).waitFor()
    assert.deepEqual(tab.said, [])
    await tab.close()
  })

  it('signs in again above the page when the session has ended', async () => {
    const tab = await openAs('ada')
    await signIn(tab, '/account')
    const name = tab.page.getByLabel('Name')
    await name.fill('Ada, typed before the end')
    await tab.page.evaluate(() => fetch('/v1/sessions/current', { method: 'DELETE' }))
    await tab.page.getByRole('button', { name: 'Save profile' }).click()
    const dialog = tab.page.getByRole('dialog', { name: 'Sign in again' })
    await dialog.getByRole('link', { name: button }).click()
    await tab.page.getByText('Profile saved.').waitFor()
    assert.equal(await name.inputValue(), 'Ada, typed before the end')
    await tab.close()
  })

  const failures: [name: string, user: string, text: RegExp][] = [
    ['has no role', 'eve', /Example Login gives you no role in this Annex\. Annex reads the claim "groups"/],
    ['refuses', 'refuser', /Example Login has refused the sign-in, or you have cancelled it/],
    ['has the email of a local account', 'olga', /has the email olga@example\.com.*link Example Login/],
  ]
  for (const [name, user, text] of failures) {
    it(`says in words why a person who ${name} is not signed in`, async () => {
      const tab = await openAs(user, { width: 375 })
      await signIn(tab, '/')
      await tab.page.getByRole('heading', { name: 'The sign-in did not work' }).waitFor()
      await tab.page.getByText(text).waitFor()
      assert.equal(new URL(tab.page.url()).search, '', 'the address keeps neither code nor state')
      assert.equal(await overflowOf(tab.page), 0)
      for (const colorScheme of ['light', 'dark'] as const) {
        await tab.page.emulateMedia({ colorScheme })
        assert.deepEqual(await findBarriers(tab.page), [])
      }
      await tab.page.getByRole('link', { name: 'Back to sign-in' }).click()
      await tab.page.getByRole('button', { name: button }).waitFor()
      assert.deepEqual(tab.said, [])
      await tab.close()
    })
  }

  it('links a local account, and unlinks it', async () => {
    const tab = await opened.asOperator({ ownSession: true })
    await tab.context.addCookies([{ name: 'as', value: 'linked', url: provider.url }])
    await tab.goto('/account')
    await tab.page.getByRole('button', { name: 'Link Example Login' }).click()
    await tab.page.getByText('This account is linked with Example Login').waitFor()
    const other = await openAs('linked')
    await signIn(other, '/account')
    await other.page.getByText('You are an operator').waitFor()
    await other.close()
    await tab.page.getByRole('button', { name: 'Unlink' }).click()
    await tab.page.getByRole('button', { name: 'Link Example Login' }).waitFor()
    assert.deepEqual(tab.said, [])
    await tab.close()
  })

  it('says that a provider is not there, and takes the password', async () => {
    const tab = await opened.open()
    await tab.page.route('**/v1/openid/flows', (route) =>
      route.fulfill({
        status: 503,
        json: { error: { code: 'unavailable', message: 'Example Login does not answer.' } },
      }),
    )
    await signIn(tab, '/account')
    await tab.page.getByText('Example Login does not answer.').waitFor()
    await tab.page.getByLabel('Email').waitFor()
    await tab.close()
  })

  it('finishes nothing at an address without an answer', async () => {
    const tab = await opened.open()
    for (const path of ['/sign-in/openid', '/sign-in/openid?code=a&state=b']) {
      await tab.goto(path)
      await tab.page.getByRole('heading', { name: 'The sign-in did not work' }).waitFor()
    }
    await tab.close()
  })
})
