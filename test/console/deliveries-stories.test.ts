// tier: console (it follows deliveries in a browser)
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { toExactCurl } from '../../host/console/app/deliveries/curl.ts'
import { installSample, until } from '../support/annex.ts'
import { findBarriers } from '../support/axe.ts'
import { skipWithoutChromium } from '../support/chromium.ts'
import { type OpenConsole, openConsole, type Tab } from '../support/console.ts'
import { owe, senderPlugin, watchDeliveries } from '../support/sender.ts'

describe('deliveries in the console', { skip: skipWithoutChromium() }, () => {
  const ends = new AsyncDisposableStack()
  let opened: OpenConsole
  let endpoint: string
  let secret: string
  let tab: Tab
  let page: Page
  before(async () => {
    opened = await openConsole({
      plugins: { sender: senderPlugin },
      flags: { DELIVERY_RETRY_SECONDS: '1,3600' },
    })
    ends.defer(opened.close)
    ;({ endpoint, secret } = await installSample(opened.annex, 'sender'))
    tab = await opened.asOperator()
    page = tab.page
    await tab.context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: opened.url })
  })
  after(() => ends.disposeAsync())

  const { receive, delivery, settled } = watchDeliveries(ends, () => opened.annex.api)
  const button = (name: string | RegExp) => page.getByRole('button', { name })
  const rows = () => page.locator('main tbody tr')
  const saysNothing = () => assert.deepEqual([tab.said.splice(0), tab.refused.splice(0)], [[], []])

  it('shows each attempt with its reason, and a countdown to the next one', async () => {
    const busy = (response: ServerResponse) => {
      response.writeHead(503, { 'retry-after': '1' }).end('the database is being restarted')
    }
    const receiver = await receive(busy)
    const [id = ''] = await owe(endpoint, { url: receiver.url, type: 'site_view' })
    await until(
      () => delivery(id),
      ({ attempts }) => attempts === 2,
    )
    await tab.goto(`/orgs/home/deliveries/${id}`)
    await page.locator('strong', { hasText: 'Attempt 2' }).waitFor()
    const text = (await page.locator('main').allInnerTexts()).join('')
    assert.match(
      text,
      /Attempt 1[\s\S]*The receiver answered 503\. It asked to wait for 1 s\. The next attempt came \d(\.\d)? s later\.\s*the database is being restarted/,
    )
    assert.match(text, /first byte [\d.]+ ms/)
    assert.match(text, /Attempt 3 follows (in \d+ (seconds|minutes)|in 1 hour)/)
    assert.deepEqual(await findBarriers(page), [])
    saysNothing()
  })

  it('copies the request of an attempt as a curl command, and the body alone', async () => {
    const receiver = await receive(200)
    const [id = ''] = await owe(endpoint, { url: `${receiver.url}?it's=[1]`, type: "it's" })
    const { url, body, attemptList } = await settled(id)
    await tab.goto(`/orgs/home/deliveries/${id}`)
    await button('Copy as curl').click()
    await button('Copied').waitFor()
    const copied = () => page.evaluate<string>('navigator.clipboard.readText()')
    assert.equal(await copied(), toExactCurl({ url, headers: attemptList[0].request.headers, body }))
    await button('Copy the body').click()
    await until(copied, (text) => text === body, 10)
    saysNothing()
  })

  it('checks a secret in the page, and sends it nowhere', async () => {
    const late = (response: ServerResponse) => {
      response.sendDate = false
      response.writeHead(200, { date: new Date(Date.now() - 420_000).toUTCString() }).end()
    }
    const receiver = await receive(late)
    const [id = ''] = await owe(endpoint, { url: receiver.url })
    const { body } = await settled(id)
    const sent: string[] = []
    page.on('request', (request) => sent.push(`${request.url()} ${request.postData() ?? ''}`))
    await tab.goto(`/orgs/home/deliveries/${id}`)
    await page.getByText('Check my secret').click()
    const check = async (given: string, read: string, expected: RegExp) => {
      await page.getByLabel('Signing secret of the receiver').fill(given)
      await page.getByLabel('Body that the receiver read').fill(read)
      await button('Check the signature').click()
      await page.locator('main form [role=status]', { hasText: expected }).waitFor()
    }
    await check('another one', '', /This is another secret/)
    await check(
      secret,
      '',
      /Signature verified[\s\S]*The clock of the receiver is off by 4(19|20|21) s: it is behind/,
    )
    await check(secret, body.replace(':', ': '), /the body was changed: the texts differ from character 9 on/)
    assert.ok(sent.length > 0)
    assert.ok(sent.every((one) => !one.includes(secret) && !one.includes('another one')))
    assert.equal((await page.content()).includes(secret), false)
    saysNothing()
  })

  it('has the filter and the page in the address', async () => {
    const receiver = await receive(200)
    const ids = await owe(endpoint, { url: receiver.url, type: 'many' }, 105)
    await settled(ids.at(-1) ?? '')
    await tab.goto('/orgs/home/deliveries?type=many')
    await until(
      () => rows().count(),
      (count) => count === 100,
      20,
    )
    await page.getByRole('link', { name: 'Older' }).click()
    await page.waitForURL(/type=many&page=/)
    await until(
      () => rows().count(),
      (count) => count === 5,
      20,
    )
    await page.getByRole('link', { name: 'Newest' }).click()
    await until(
      () => rows().count(),
      (count) => count === 100,
      20,
    )
    await page.getByLabel('State').selectOption('failed')
    await page.waitForURL(/state=failed&type=many/)
    await page.getByText('Nothing matches this filter.').waitFor()
    await page.reload()
    await page.getByText('Nothing matches this filter.').waitFor()
    await page.locator('main .empty').getByRole('button', { name: 'Clear the filter' }).click()
    await page.waitForURL(/\/deliveries$/)
    await page.getByText('Settled deliveries are kept for 30 days.').waitFor()
    saysNothing()
  })

  it('keeps rows in their place while new ones wait, and shows states as they change', async () => {
    const receiver = await receive(503, 200)
    const [id = ''] = await owe(endpoint, { url: receiver.url, type: 'live' })
    await tab.goto('/orgs/home/deliveries?type=live')
    await until(
      () => rows().count(),
      (count) => count === 1,
      20,
    )
    await owe(endpoint, { url: (await receive(200)).url, type: 'live' }, 3)
    await button('Show 3 new').waitFor()
    assert.equal(await rows().count(), 1)
    await settled(id)
    await rows().first().getByText('Delivered').waitFor()
    await button('Show 3 new').click()
    await until(
      () => rows().count(),
      (count) => count === 4,
      20,
    )
    saysNothing()
  })

  it('leads from a disabled receiver to its failed deliveries that are sent again', async () => {
    const receiver = await receive(410, 200)
    const [id = ''] = await owe(endpoint, { url: receiver.url, type: 'gone' })
    await settled(id)
    await tab.goto('/orgs/home')
    await page.getByText('One thing needs you.').first().waitFor()
    assert.match(await page.title(), /^\(1\) /)
    assert.match((await page.locator('link[rel=icon]').getAttribute('href')) ?? '', /%3E1%3C%2Ftext/)
    await page.getByRole('heading', { name: `The receiver ${receiver.url} of sender is disabled.` }).waitFor()
    assert.deepEqual(await findBarriers(page), [])
    await button('Resume the receiver').click()
    await page.getByText('The one installation works.').waitFor()
    assert.doesNotMatch(await page.title(), /^\(/)
    await tab.goto('/orgs/home/deliveries?type=gone&state=failed')
    await button('Send failed ones again').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('1 delivery failed in this time.').waitFor()
    assert.deepEqual(await findBarriers(page), [])
    await dialog.getByRole('button', { name: 'Send 1 again' }).click()
    await page.getByText('1 delivery is queued again.').waitFor()
    assert.equal((await settled(id)).state, 'delivered')
    saysNothing()
  })

  it('pauses a receiver with a reason, keeps its order, and resumes it', async () => {
    const receiver = await receive(200)
    const [id = ''] = await owe(endpoint, { url: receiver.url, type: 'paused' })
    const { receiver: receiverId } = await settled(id)
    await tab.goto(`/orgs/home/receivers/${receiverId}`)
    await button('Pause').click()
    await page.getByLabel('Reason').fill('Moving house')
    await button('Pause the receiver').click()
    await page.getByText('Moving house').waitFor()
    const [waiting = ''] = await owe(endpoint, { url: receiver.url, type: 'paused' })
    await page.getByText('1 waiting for a resume').waitFor()
    await page.getByText('Oldest pending').waitFor()
    await button('Keep the order').click()
    await button('Do not keep the order').waitFor()
    await tab.goto(`/orgs/home/deliveries/${waiting}`)
    await page.getByText('Waits: the receiver is paused.').waitFor()
    assert.equal(await button('Send now').getAttribute('title'), 'The receiver is paused: resume it first.')
    await page.getByRole('link', { name: 'Open the receiver' }).click()
    await button('Resume').click()
    assert.equal((await settled(waiting)).state, 'delivered')
    await button('Send an example').click()
    await page.waitForURL(/\/deliveries\/dlv_/)
    await page.getByText('Delivered. The receiver has it.').waitFor()
    saysNothing()
  })
})
