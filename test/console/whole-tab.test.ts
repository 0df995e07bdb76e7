// tier: console (it waits for a host that does not answer)
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { skipWithoutChromium } from '../support/chromium.ts'
import { type OpenConsole, openConsole, type Tab } from '../support/console.ts'

describe('a tab of the console', { skip: skipWithoutChromium() }, () => {
  let opened: OpenConsole
  let tab: Tab
  before(async () => {
    opened = await openConsole()
    tab = await opened.asOperator()
  })
  after(() => opened.close())

  it('says that the host does not answer, keeps what is typed, and goes on when it does', async () => {
    const { page, context } = tab
    await tab.goto('/account')
    await page.getByLabel('Name').fill('Ada')
    await context.setOffline(true)
    await page.getByRole('button', { name: 'Save profile' }).click()
    await page.getByText('Annex does not answer. This page tries again').waitFor()
    await page.getByText('What you typed is still here.').waitFor()
    assert.equal(await page.getByLabel('Name').inputValue(), 'Ada')
    await context.setOffline(false)
    await page.getByText('This page tries again').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Save profile' }).click()
    await page.getByText('Profile saved.').waitFor()
    tab.said.length = 0
  })

  it('offers to reload when the host has a newer console', async () => {
    const { page, context } = tab
    await tab.goto('/account')
    let isAsked = false
    await page.route('**/', (route) => {
      isAsked = true
      return route.fulfill({ status: 200, headers: { etag: '"newer"' } })
    })
    await context.setOffline(true)
    await page.getByRole('button', { name: 'Save profile' }).click()
    await page.getByText('This page tries again').waitFor()
    await context.setOffline(false)
    await page.getByText('Annex has a newer console than this tab.').waitFor()
    assert.ok(isAsked)
    await page.unroute('**/')
    await page.getByRole('button', { name: 'Reload' }).click()
    await page.getByText('Annex has a newer console').waitFor({ state: 'detached' })
    tab.said.length = 0
  })

  it('forwards the links of older versions, which named a page in the fragment', async () => {
    const { organization, site } = opened.annex.server.samples
    const links = {
      [`/#/orgs/${organization}`]: `/orgs/${organization}`,
      // Leads on to the organization of the person.
      '/#/integrations/webhook': '**/integrations/webhook',
      [`/#/orgs/${organization}/sites/${site}/`]: `/orgs/${organization}/sites/${site}`,
    }
    for (const [from, to] of Object.entries(links)) {
      await tab.page.goto('about:blank')
      await tab.page.goto(from)
      await tab.page.waitForURL(to.startsWith('/') ? opened.url + to : to)
    }
    await tab.page.getByRole('heading', { name: 'Sample site' }).waitFor()
    assert.deepEqual(tab.said, [])
  })

  it('shows the exact time on hover and focus, in the chosen zone', async () => {
    const { page } = tab
    await tab.goto('/account')
    await page.getByLabel('Time zone').selectOption('Asia/Tokyo')
    const time = page.locator('time').first()
    assert.match((await time.getAttribute('data-exact')) ?? '', /\d{2}:\d{2}:\d{2} GMT\+9$/)
    await time.focus()
    const shown = String(await page.evaluate("getComputedStyle(document.activeElement, '::after').content"))
    assert.match(shown, /GMT\+9/)
    await page.reload()
    assert.match((await page.locator('time').first().getAttribute('data-exact')) ?? '', /GMT\+9$/)
  })

  it('offers to reload where the file of a page is gone', async () => {
    const { page } = tab
    await page.route('**/assets/members-*.js', (route) => route.fulfill({ status: 404 }))
    await tab.goto('/orgs/home')
    await page.getByRole('link', { name: 'Members' }).click()
    await page.getByText('This page could not be loaded.').waitFor()
    await page.unroute('**/assets/members-*.js')
    await page.getByRole('button', { name: 'Reload' }).click()
    await page.getByRole('heading', { name: 'Members', exact: true }).waitFor()
    tab.said.length = 0
  })

  it('shows the crash of one part in its place, and the rest works on', async () => {
    const { page } = tab
    await page.route('**/v1/problems', (route) => route.fulfill({ json: { items: [null] } }))
    await tab.load('/orgs/home')
    await page.getByText('No integration is installed').waitFor()
    await page.getByRole('alert').first().waitFor()
    await page.unroute('**/v1/problems')
    tab.said.length = 0
  })

  it('that is closed leaves nothing of its person to the next one, which takes its browser', async () => {
    const left = await opened.asOperator()
    await left.load('/account')
    await left.page.evaluate('localStorage.setItem("left", "a"); sessionStorage.setItem("left", "b")')
    await left.page.route('**/v1/sign-in', (route) => route.abort())
    await left.context.setOffline(true)
    await left.close()
    const next = await opened.open()
    assert.equal(next.context, left.context)
    assert.deepEqual(await next.context.cookies(), [])
    await next.load('/account')
    await next.page.getByLabel('Email').waitFor()
    assert.deepEqual(await next.page.evaluate('[localStorage.length, sessionStorage.length]'), [0, 0])
    assert.deepEqual([next.said, next.refused], [[], [401]])
    await next.close()
  })
})
