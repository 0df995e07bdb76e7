// tier: console (it points at links in a browser)
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { until } from '../support/annex.ts'
import { skipWithoutChromium } from '../support/chromium.ts'
import { type OpenConsole, openConsole } from '../support/console.ts'

describe('the files of a page', { skip: skipWithoutChromium() }, () => {
  let opened: OpenConsole
  before(async () => {
    opened = await openConsole()
  })
  after(() => opened.close())

  it('are loaded when a person points at its link, and by the click when they did not come', async () => {
    const tab = await opened.asOperator()
    const { page } = tab
    const asked: string[] = []
    const isOf = (name: string) => asked.some((path) => path.startsWith(`/assets/${name}-`))
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    await tab.goto('/orgs/home')
    await until(
      async () => isOf('deliveries') && isOf('installations'),
      (isThere) => isThere,
    )
    const others = ['members', 'tokens', 'logs', 'usage']
    assert.deepEqual(others.filter(isOf), [])
    await page.getByRole('link', { name: 'Members', exact: true }).hover()
    await page.getByRole('link', { name: 'Logs', exact: true }).focus()
    await until(
      async () => isOf('members') && isOf('logs'),
      (isThere) => isThere,
    )
    await page.route('**/assets/usage-*', (route) => route.abort(), { times: 1 })
    await page.getByRole('link', { name: 'Usage', exact: true }).hover()
    await until(
      async () => isOf('usage'),
      (isThere) => isThere,
    )
    await page.getByRole('link', { name: 'Usage', exact: true }).click()
    await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor()
    assert.equal(new URL(page.url()).pathname, '/orgs/home/usage')
    assert.deepEqual(
      tab.said.filter((line) => !line.includes('ERR_FAILED')),
      [],
    )
    await tab.close()
  })

  it('of those that are common wait until a person is signed in', async () => {
    const tab = await opened.open()
    const asked: string[] = []
    tab.page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    await tab.goto('/sign-in')
    await tab.page.waitForTimeout(1_500)
    assert.deepEqual(
      asked.filter((path) => /\/(deliveries|installations)-/.test(path)),
      [],
    )
    await tab.close()
  })

  it('of the address are asked for while the host still says who the person is, which is asked once', async () => {
    const { page, goto, said, close } = await opened.asOperator()
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    const isAsked = (pattern: RegExp) => asked.some((path) => pattern.test(path))
    await page.route('**/v1/me', async (route) => {
      await until(
        async () => isAsked(/^\/assets\/members-/),
        (isThere) => isThere,
      )
      await route.continue()
    })
    await goto('/orgs/home/members')
    assert.equal(asked.filter((path) => path === '/v1/me').length, 1)
    assert.deepEqual(
      asked.filter((path) => path === '/'),
      [],
      'the page names its build',
    )
    assert.deepEqual(said, [])
    await close()
  })
})
