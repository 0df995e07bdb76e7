// tier: console (it shows pictures in a browser)
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { until } from '../support/annex.ts'
import { findBarriers, overflowOf } from '../support/axe.ts'
import { skipWithoutChromium } from '../support/chromium.ts'
import { type OpenConsole, openConsole, type Tab } from '../support/console.ts'
import { type PictureHost, startPictureHost } from '../support/picture-host.ts'
import { drawPng } from './catalogue-plugins.ts'
import { makeManual, putPage } from './pages-plugins.ts'

const script = `
import { createComponent, createIntegration } from '@annex/runtime'
const card = createComponent({
  componentId: 'card',
  initialState: ({ url }) => ({ url }),
  render: async ({ props }) => (
    <block>
      <image source={{ url: { $state: 'url' } }} />
      <markdown content={'![Drawn](' + props.url + '?markdown)'} />
      <select state="team" options={{ source: '/teams' }} />
    </block>
  ),
})
export default createIntegration({
  components: [card],
  fetch: () => Response.json([{ id: 'a', label: 'Team A' }]),
})`
const clips = {
  more: 'script: ./index.tsx\nblocks: [{ id: card, title: Card }]',
  files: { 'index.tsx': script },
}
const base = '/orgs/home/spaces/manual'

describe('pictures and places of pages', { skip: skipWithoutChromium() }, () => {
  let opened: OpenConsole
  let host: PictureHost
  let tab: Tab
  let page: Page
  before(async () => {
    host = await startPictureHost(drawPng(200, 100, 120))
    opened = await openConsole({ plugins: { clips } })
    await makeManual(opened.annex, {
      start: {
        title: 'Start',
        markdown: `![A chart](${host.url}/a.png)\n\n![Gone](${host.url}/gone) and [![Badge](${host.url}/gone)](https://a.example/)\n\n![Beside](./b.png)\n\n{% @clips/card url="${host.url}/card.png" %}\n`,
      },
      guides: { title: 'Guides', markdown: '' },
      'guides/one': { title: 'One', markdown: 'One', parent: 'guides' },
      last: { title: 'Last', markdown: 'Last' },
    })
    tab = await opened.asOperator()
    page = tab.page
  })
  after(async () => {
    host.close()
    await opened.close()
  })

  /** The paths of the three pictures, once all are loaded. Lazy ones load when they come near the window. */
  const shownPictures = (of: Page) =>
    until(
      () =>
        of.evaluate<string[]>(
          `[...document.querySelectorAll('main img')].flatMap((one) => {
            one.scrollIntoView()
            return one.naturalWidth === 200 ? [new URL(one.src).pathname] : []
          })`,
        ),
      (paths) => paths.length === 3,
    )
  /** The paths of the tree, as the navigation has it. */
  const listed = (of: Page) => of.locator('.page-nav a').allInnerTexts()

  it('of other hosts are shown, and a link or the text stands for what is not one', async () => {
    const requested: string[] = []
    page.on('request', (request) => requested.push(new URL(request.url()).origin))
    await tab.goto(`${base}/pages/start`)
    await page.locator('.page-block').scrollIntoViewIfNeeded()
    const paths = await shownPictures(page)
    assert.match(paths[0] ?? '', /^\/v1\/spaces\/space_[^/]+\/picture$/)
    assert.match(paths[1] ?? '', /^\/v1\/integrations\/clips\//)
    await page.getByRole('img', { name: 'A chart' }).waitFor()
    await page.getByRole('img', { name: 'Drawn' }).waitFor()
    assert.equal(await page.getByRole('link', { name: 'Gone' }).getAttribute('href'), `${host.url}/gone`)
    assert.equal(await page.getByRole('link', { name: 'Badge' }).getAttribute('href'), 'https://a.example/')
    await page.getByText('Beside').waitFor()
    assert.deepEqual([...new Set(requested)], [opened.url])
    await page.getByRole('option', { name: 'Team A' }).waitFor({ state: 'attached' })
    assert.deepEqual([tab.said.splice(0), new Set(tab.refused.splice(0))], [[], new Set([502])])
  })

  it('are shown to a reader, with the choices of a block', async () => {
    const reader = await opened.asMember('home', 'reader', { width: 375, colorScheme: 'dark' })
    await reader.goto(`${base}/pages/start`)
    await reader.page.locator('.page-block').scrollIntoViewIfNeeded()
    await shownPictures(reader.page)
    await reader.page.getByRole('option', { name: 'Team A' }).waitFor({ state: 'attached' })
    assert.deepEqual(await findBarriers(reader.page), [])
    assert.equal(await overflowOf(reader.page), 0)
    assert.deepEqual([reader.said, new Set(reader.refused)], [[], new Set([502])])
    const move = reader.page.getByRole('button', { name: 'Move page' })
    await reader.page.locator('main .more summary').click()
    assert.match((await move.getAttribute('title')) ?? '', /editor/)
    await reader.close()
  })

  it('are moved by the keyboard, and not past what another person has moved', async () => {
    await tab.goto(`${base}/pages/last`)
    const openMove = () => openOf('Last')
    await openMove()
    await page.getByLabel('Below', { exact: true }).selectOption({ label: 'Guides' })
    await page.getByLabel('Before', { exact: true }).selectOption({ label: 'One' })
    assert.deepEqual(await findBarriers(page), [])
    await page.getByRole('button', { name: 'Move page' }).last().press('Enter')
    await page.getByText('Last is moved.').waitFor()
    await page.getByRole('link', { name: 'Guides' }).waitFor()
    await until(
      () => listed(page),
      (titles) => titles.length === 4,
    )
    assert.deepEqual(await listed(page), ['Start', 'Guides', 'Last', 'One'])
    await openMove()
    await putPage(opened.annex, 'guides/one', { parent: null })
    await page.getByRole('button', { name: 'Move page' }).last().press('Enter')
    await page.getByRole('dialog').getByText('Another person has moved or deleted the page').waitFor()
    assert.deepEqual([tab.said.splice(0), tab.refused.splice(0)], [[], [422]])
    await page.keyboard.press('Escape')
    await tab.goto(`${base}/pages/guides`)
    await openOf('Guides')
    const below = await page.getByLabel('Below', { exact: true }).locator('option').allInnerTexts()
    assert.deepEqual(below, ['No page: at the top', 'Start', 'One'])
    await page.keyboard.press('Escape')
  })

  async function openOf(title: string): Promise<void> {
    await page.locator('main .more summary').press('Enter')
    await page.getByRole('button', { name: 'Move page' }).press('Enter')
    await page.getByRole('dialog', { name: `Move ${title}` }).waitFor()
  }
})
