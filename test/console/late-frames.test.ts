// tier: console (it slows a browser down)
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { agreementTo } from '../support/agreement.ts'
import { installSample, until } from '../support/annex.ts'
import { skipWithoutChromium } from '../support/chromium.ts'
import { type OpenConsole, openConsole } from '../support/console.ts'
import { owe, senderPlugin, watchDeliveries } from '../support/sender.ts'
import { clips, makeManual, putPage } from './pages-plugins.ts'

/** How long the browser of this test takes for a frame. */
const frameMs = 2_000

/** Preact runs what waits for a frame at the next one, or after 35 ms in a tab that draws none. So short timers are late, too. */
const lateFrames = `{
  const nextFrame = requestAnimationFrame.bind(globalThis)
  const wait = setTimeout.bind(globalThis)
  globalThis.requestAnimationFrame = (run) => wait(() => nextFrame(run), ${frameMs})
  // It is given the id of a timer, and a frame that Playwright waits for may have the same.
  globalThis.cancelAnimationFrame = clearTimeout.bind(globalThis)
  globalThis.setTimeout = (run, ms, ...given) => wait(run, (ms ?? 0) < 50 ? ${frameMs} : ms, ...given)
}`

/** It says that it is ready as soon as it runs, and shows what it is given. */
const framePage = `<!doctype html><p></p><script>
addEventListener('message', ({ data }) => { document.querySelector('p').textContent = 'given ' + data.state?.word })
parent.postMessage({ action: { action: '@webframe.ready' } }, '*')
</script>`

const framed = {
  more: 'script: ./index.tsx\nconfigurations: { account: { componentId: framed } }',
  files: {
    'index.tsx': `import { createComponent, createIntegration } from '@annex/runtime'
const framed = createComponent({
  componentId: 'framed',
  initialState: { city: '' },
  action: async () => ({ type: 'complete' }),
  render: async (element, { environment }) => (
    <configuration>
      <webframe source={{ url: environment.integration.urls.publicEndpoint }} data={{ word: 'word' }} />
      <input label="City" element={<textinput state="city" />} />
      <button label="End" onPress={{ action: 'end' }} />
    </configuration>
  ),
})
export default createIntegration({
  components: [framed],
  fetch: async () => new Response(${JSON.stringify(framePage)}, { headers: { 'content-type': 'text/html' } }),
})`,
  },
}

/** The title and the icon of the tab in the moment that the page shows a text. */
const tabWith = (text: string): string => `new Promise((tell) => {
  const observer = new MutationObserver(() => {
    if (!document.querySelector('main')?.textContent.includes('${text}')) return
    observer.disconnect()
    tell([document.title, document.querySelector('link[rel=icon]').href])
  })
  observer.observe(document.body, { childList: true, characterData: true, subtree: true })
})`

const numberIn = (icon: string): string | undefined => />(\d+)<\/text>/.exec(decodeURIComponent(icon))?.[1]

describe('the console in a browser whose frames come late', { skip: skipWithoutChromium() }, () => {
  const ends = new AsyncDisposableStack()
  let opened: OpenConsole
  let page: Page
  before(async () => {
    opened = await openConsole({ plugins: { sender: senderPlugin, clips, framed } })
    ends.defer(opened.close)
    await makeManual(opened.annex, {
      mine: { title: 'Mine', markdown: 'one' },
      words: { title: 'Words', markdown: 'Words' },
    })
    await opened.annex.api('POST', '/v1/orgs', { subdomain: 'acme', title: 'Acme' })
    const { context } = await opened.asOperator()
    await context.addInitScript(lateFrames)
    page = await context.newPage()
    page.setDefaultTimeout(60_000)
  })
  after(() => ends.disposeAsync())

  const { receive, settled } = watchDeliveries(ends, () => opened.annex.api)
  const button = (name: string) => page.getByRole('button', { name })

  it('counts the problems in the title and the icon of its tab with the page', async () => {
    const { endpoint } = await installSample(opened.annex, 'sender')
    const receiver = await receive(410)
    const [id = ''] = await owe(endpoint, { url: receiver.url })
    await settled(id)
    await page.goto('/orgs/home')
    await until(
      () => page.title(),
      (title) => title === '(1) Home · Annex',
    )
    assert.equal(numberIn((await page.locator('link[rel=icon]').getAttribute('href')) ?? ''), '1')
    const told = page.evaluate<[string, string]>(tabWith('All 2 installations work.'))
    await button('Resume the receiver').click()
    const [title, href] = await told
    assert.deepEqual([title, numberIn(href)], ['Home · Annex', undefined])
  })

  it('keeps the draft that another person was seen to change, and no other', async () => {
    await page.goto('/orgs/home/spaces/manual/pages/mine?edit')
    await page.getByLabel('Markdown', { exact: true }).fill('mine')
    await putPage(opened.annex, 'mine', { markdown: 'theirs' })
    await button('Save page').click()
    await button('Read theirs').click()
    await page.getByText('theirs').waitFor()
    await page.reload()
    await button('Go on editing').click()
    await button('Save page').click()
    await page.getByText('Mine is saved.').waitFor()
    const { json } = await opened.annex.api('GET', '/v1/spaces/manual/content/page/mine')
    assert.equal(json.markdown, 'mine')
  })

  it('leads to no search of a page that was left', async () => {
    await page.goto('/orgs/home/logs')
    await page.getByRole('searchbox').pressSequentially('clips')
    await page.getByRole('link', { name: 'Deliveries', exact: true }).click()
    await page.waitForURL('**/deliveries')
    // The search waits for 250 ms without a letter.
    await page.waitForTimeout(500)
    assert.equal(page.url(), `${opened.url}/orgs/home/deliveries`)
  })

  it('types on where the palette of blocks was opened', async () => {
    await page.goto('/orgs/home/spaces/manual/pages/words?edit')
    const area = page.getByLabel('Markdown', { exact: true })
    await area.focus()
    for (const key of ['Control+End', 'Control+/', 'Escape', '!', 'Control+/']) await page.keyboard.press(key)
    await page.keyboard.type('numb')
    for (const key of ['Enter', '9']) await page.keyboard.press(key)
    assert.equal(await area.inputValue(), 'Words!\n\n```chart\n9\n```\n')
    await button('Discard my edit').click()
  })

  it('hears a frame that is ready at once', async () => {
    const { json } = await opened.annex.api('POST', '/v1/integrations/framed/installations', {
      organization: 'home',
      ...(await agreementTo(opened.annex, 'framed')),
    })
    await page.goto(`/orgs/home/installations/${json.id}`)
    await page.frameLocator('iframe.c-frame').getByText('given word').waitFor()
  })

  it('begins a component anew that has ended', async () => {
    await page.getByLabel('City').fill('Oslo')
    await button('End').click()
    await page.getByText('The script has finished.').waitFor()
    assert.equal(await page.getByLabel('City').inputValue(), '')
  })

  it('remembers the organization that was chosen', async () => {
    await page.goto('/orgs/home')
    await page.getByRole('combobox', { name: 'Organization' }).selectOption('acme')
    await page.getByRole('heading', { name: 'Acme' }).waitFor()
    await page.goto('/')
    await page.waitForURL(/\/orgs\//)
    assert.equal(page.url(), `${opened.url}/orgs/acme`)
  })
})
