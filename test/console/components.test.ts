// tier: console (components in a browser)
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import type { IntrinsicElements } from '../../runtime/sdk/ui/elements.ts'
import { agreementTo } from '../support/agreement.ts'
import { type Annex, type Json, until } from '../support/annex.ts'
import { findBarriers, overflowOf } from '../support/axe.ts'
import { skipWithoutChromium } from '../support/chromium.ts'
import { type OpenConsole, openConsole, pluginsDir, type Tab } from '../support/console.ts'

/** How each element of the SDK is found on the page of the plugin `elements`. The types fail without a row for a new one. */
const drawn: Record<keyof IntrinsicElements, string> = {
  block: '.component > .c-stack > .c-controls',
  configuration: '.c-configuration',
  modal: 'dialog .component .c-submit',
  vstack: '.c-stack.c-align-start',
  hstack: '.c-row.c-align-center',
  box: '.c-box.c-box-card.c-grow',
  spacer: '.c-spacer',
  divider: 'hr.c-line-small',
  text: 'strong:text-is("bold")',
  markdown: '.markdown h3:text-is("Texts")',
  link: '.component a[href="https://example.com/"]:text-is("a link")',
  image: 'img.c-picture',
  card: '.c-card button:text-is("A card")',
  hint: '.component .note:has-text("Pressed 0 times")',
  button: '.c-button button:has-text("Press")',
  input: '.c-input .c-label:text-is("Name")',
  textinput: '.c-input input.c-field',
  select: '.c-input select.c-field',
  switch: '.component input[role=switch]:checked',
  radio: '.component input[type=radio]:checked',
  checkbox: '.component input[type=checkbox]:not([role=switch])',
  codeblock: '.c-code textarea',
  stepper: '.c-steps [aria-current=step]:has-text("First")',
  step: '.c-text:text-is("A step of two")',
  webframe: 'iframe.c-frame',
}

describe('the plugin that shows each element', { skip: skipWithoutChromium() }, () => {
  let opened: OpenConsole
  let tab: Tab
  let page: Page
  let at: string
  let path: string
  before(async () => {
    opened = await openConsole({ pluginsDir })
    const { id } = await install(opened.annex, 'elements')
    path = `/v1/integrations/elements/installations/${id}`
    at = `/orgs/home/installations/${id}`
    tab = await opened.asOperator()
    page = tab.page
    await tab.goto(at)
  })
  after(() => opened.close())

  const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
  const shown = async () => (await page.locator('.component').textContent()) ?? ''
  const frame = () => page.frameLocator('iframe.c-frame')

  it('is drawn, each element with its properties', async () => {
    await page.locator('.c-steps').waitFor()
    for (const [type, selector] of Object.entries(drawn)) {
      if (type !== 'modal') await page.locator(selector).first().waitFor({ state: 'attached' })
    }
    assert.equal(await page.locator('.c-notes').count(), 0)
    const fit = await page.evaluate(`getComputedStyle(document.querySelector('${drawn.image}')).objectFit`)
    assert.equal(fit, 'contain', 'a picture of another ratio is not stretched')
    const { json } = await opened.annex.api('POST', `${path}/render`, { componentId: 'elements' })
    const inModal = await opened.annex.api('POST', `${path}/render`, { componentId: 'question' })
    const types = new Set([...typesOf(json.element), ...typesOf(inModal.json.element)])
    assert.deepEqual([...types].sort(), Object.keys(drawn).sort())
    assert.deepEqual([tab.said, tab.refused], [[], []])
  })

  it('sends actions with the state that a person typed', async () => {
    await page.getByLabel('Name').fill('Grace')
    await press('Press')
    await page.getByText('Pressed 1 times').waitFor()
    await page.locator('.markdown strong', { hasText: 'Grace' }).waitFor()
    await press('A card')
    await page.getByText('Pressed 2 times').waitFor()
    await page.getByLabel('City').selectOption('oslo')
    await page.getByText('the last answer is chosen').waitFor()
    assert.equal(await page.getByLabel('City').inputValue(), 'oslo')
  })

  it('gets the choices of a select from its script', async () => {
    await page.getByLabel('Region').selectOption('Asia')
    assert.equal(await page.getByLabel('Region').inputValue(), 'as')
  })

  it('asks before an action that has a question', async () => {
    await press('Ask first')
    const dialog = page.getByRole('dialog', { name: 'Press it?' })
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await press('Ask first')
    await dialog.getByRole('button', { name: 'Press' }).click()
    await page.getByText('Pressed 3 times').waitFor()
  })

  it('opens a modal with a value of the state, and gets what it returns', async () => {
    await press('Open a modal')
    const dialog = page.getByRole('dialog', { name: 'A question to Grace' })
    await dialog.getByLabel('Reason').fill('because')
    await page.locator(drawn.modal).waitFor()
    await dialog.getByRole('button', { name: 'Answer' }).click()
    await page.getByText('the last answer is {"reason":"because"}').waitFor()
    await press('Open a modal')
    await page.keyboard.press('Escape')
    await page.getByText('the last answer is {}').waitFor()
    assert.equal(await page.getByRole('dialog').count(), 0)
  })

  it('names the host before it opens an address', async () => {
    await press('Open the docs')
    const dialog = page.getByRole('dialog', { name: 'Open example.com?' })
    await dialog.getByText('https://example.com/docs').waitFor()
    const link = dialog.getByRole('link')
    assert.equal(await link.getAttribute('target'), '_blank')
    assert.equal(await link.getAttribute('rel'), 'noopener noreferrer')
    await dialog.getByRole('button', { name: 'Cancel' }).click()
  })

  it('goes through its steps', async () => {
    await press('Next')
    await page.getByText('The last one').waitFor()
    await press('Finish')
    await page.getByText('the last answer is finished').waitFor()
    await press('Back')
    await page.getByText('A step of two').waitFor()
  })

  it('gives its frame what a person types, and takes its size and its actions', async () => {
    await page.locator('iframe.c-frame').scrollIntoViewIfNeeded()
    await frame().getByText('graph LR').waitFor()
    await page.locator('.c-code textarea').fill('graph TD')
    await frame().getByText('graph TD').waitFor()
    const before = Number(/Pressed (\d+) times/.exec(await shown())?.[1])
    await frame().getByRole('button').click()
    await page.getByText(`Pressed ${before + 1} times`).waitFor()
    await frame()
      .getByText(`${before + 1} pressed`)
      .waitFor()
    const { height = 0 } = (await page.locator('iframe.c-frame').boundingBox()) ?? {}
    const asked = await frame().locator('html').evaluate('document.documentElement.offsetHeight')
    assert.ok(Math.abs(height - Number(asked)) <= 3, `${height} and ${asked}`)
  })

  it('saves settings by its script, and the page shows the new state', async () => {
    await page.locator('.head .chip', { hasText: 'Pending' }).waitFor()
    await page.getByLabel('Name').fill('Edsger')
    await press('Save')
    await page.locator('.head .chip', { hasText: 'Active' }).waitFor()
    assert.deepEqual((await opened.annex.api('GET', `${path}/configuration`)).json.stored, ['name'])
    await page.getByRole('heading', { name: 'Stored by the script' }).waitFor()
    assert.deepEqual([tab.said, tab.refused], [[], []])
  })

  it('is disabled for a reader with the reason, and gone for another organization', async () => {
    const reader = await opened.asMember('home', 'reader')
    await reader.goto(at)
    await reader.page.getByText('This needs the role editor. You have the role reader.').first().waitFor()
    assert.deepEqual([reader.said, reader.refused], [[], []])
    await opened.annex.api('POST', '/v1/orgs', { subdomain: 'other', title: 'Other' })
    const stranger = await opened.asMember('other', 'admin')
    await stranger.goto(at)
    await stranger.page.getByRole('alert').first().waitFor()
    assert.equal(await stranger.page.locator('.component').count(), 0)
  })

  for (const [colorScheme, width] of [
    ['light', 1280],
    ['dark', 375],
  ] as const) {
    it(`has no barrier and no overflow at ${width} px, ${colorScheme}`, async () => {
      const other = await opened.asOperator({ colorScheme, width })
      await other.goto(at)
      await other.page.locator('.c-steps').waitFor()
      await other.page.locator('.markdown').first().waitFor()
      assert.deepEqual(await findBarriers(other.page), [])
      assert.ok((await overflowOf(other.page)) <= 0)
      assert.deepEqual([other.said, other.refused], [[], []])
    })
  }
})

const slow = `
import { createComponent, createIntegration, ExposableError } from '@annex/runtime'
let renders = 0
const cached = createComponent({
  componentId: 'cached',
  initialState: { city: '' },
  action: ({ state }, { action }) => {
    if (action === 'break') throw new Error('with a secret')
    if (action === 'tell') throw new ExposableError('the shelf is full', 422)
    return action === 'done' ? { type: 'complete' } : { state }
  },
  render: (element) => {
    renders += 1
    element.setCache({ maxAge: 600 })
    return { type: 'block', children: [
      { type: 'text', children: ['Rendered ' + renders] }, false, null, true, { type: 'nothing-known' },
      { type: 'textinput', state: 'city', label: 'City', onValueChange: { action: 'typed' } },
      ...['break', 'tell', 'act', 'done'].map((action) => ({ type: 'button', label: action, onPress: { action } })),
    ] }
  },
})
export default createIntegration({ components: [cached] })`

describe('a component', { skip: skipWithoutChromium() }, () => {
  let opened: OpenConsole
  let tab: Tab
  let page: Page
  let at: string
  before(async () => {
    const more = 'configurations: { account: { componentId: cached } }'
    opened = await openConsole({ plugins: { cached: { script: slow, more } } })
    at = `/orgs/home/installations/${(await install(opened.annex, 'cached')).id}`
    tab = await opened.asOperator()
    page = tab.page
  })
  after(() => opened.close())

  const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
  const leaveAndReturn = async () => {
    await page.getByRole('link', { name: 'Log', exact: true }).click()
    await page.getByRole('link', { name: 'Settings', exact: true }).click()
    await page.getByText(/Rendered \d/).waitFor()
  }

  it('is kept as long as it allows, until its next action', async () => {
    await tab.goto(at)
    await page.getByText('Rendered 1').waitFor()
    await leaveAndReturn()
    await page.getByText('Rendered 1').waitFor()
    await press('act')
    await page.getByText('Rendered 2').waitFor()
    await leaveAndReturn()
    await page.getByText('Rendered 3').waitFor()
  })

  it('tells its author of unknown elements, and draws no other value', async () => {
    await page.getByText('A note for its author').click()
    await page.getByText('The element “nothing-known” is not one of the SDK, so it is left out.').waitFor()
    assert.doesNotMatch((await page.locator('.component').textContent()) ?? '', /false|null|true|undefined/)
  })

  it('that fails shows its error with the request, and keeps what was typed', async () => {
    await page.getByLabel('City').fill('Oslo')
    await press('tell')
    await page.getByRole('alert').getByText('the shelf is full').waitFor()
    await press('break')
    const alert = page.getByRole('alert').filter({ hasText: '“cached” did not do this.' })
    await alert.getByText(/req_/).waitFor()
    assert.doesNotMatch((await alert.textContent()) ?? '', /secret/)
    await alert.getByRole('button', { name: 'Try again' }).click()
    await until(
      async () => tab.refused.length,
      (count) => count === 3,
    )
    await alert.waitFor()
    assert.equal(await page.getByLabel('City').inputValue(), 'Oslo')
    assert.deepEqual(tab.said, [])
    tab.refused.length = 0
  })

  it('asks for the settings in the last step of an installation', async () => {
    const other = await opened.asOperator()
    await other.goto('/orgs/home/integrations/cached/install?step=settings')
    await other.page.getByRole('heading', { name: 'What the script asks for' }).waitFor()
    await other.page.getByLabel('City').waitFor()
    await other.close()
  })

  it('that has ended begins anew', async () => {
    await press('done')
    await page.getByText('The script has finished.').waitFor()
    await page.getByText(/Rendered \d/).waitFor()
    assert.equal(await page.getByLabel('City').inputValue(), '')
    assert.deepEqual([tab.said, tab.refused], [[], []])
  })
})

async function install(annex: Annex, integration: string): Promise<Json> {
  const { organization } = annex.server.samples
  const agreed = await agreementTo(annex, integration)
  const path = `/v1/integrations/${integration}/installations`
  return (await annex.api('POST', path, { organization, ...agreed })).json
}

function typesOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  const own = (value as Json).type
  return [...(typeof own === 'string' ? [own] : []), ...Object.values(value).flatMap(typesOf)]
}
