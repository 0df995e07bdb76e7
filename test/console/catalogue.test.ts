// tier: console (it opens each page in light and dark)
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { until } from '../support/annex.ts'
import { findBarriers, overflowOf } from '../support/axe.ts'
import { skipWithoutChromium } from '../support/chromium.ts'
import { type OpenConsole, openConsole, type Tab } from '../support/console.ts'
import { writePlugin } from '../support/plugin-folder.ts'
import { plugin, shop } from './catalogue-plugins.ts'

const list = '/orgs/home/integrations'
const titles = (tab: Tab): Promise<string[]> => tab.page.locator('.catalogue h2').allTextContents()
/** Waits until the list has these titles and no other. */
const hasTitles = (tab: Tab, wanted: string[]): Promise<unknown> =>
  until(
    () => titles(tab),
    (found) => found.join() === wanted.join(),
    20,
  )
/** The codes of answers that failed. They are forgotten. */
const codes = (tab: Tab): number[] => [...new Set(tab.refused.splice(0))]
const all = ['Hidden tool', 'Linked tool', '100% <b>sure</b>', 'Shop of words']
const query = (tab: Tab): Record<string, string> => Object.fromEntries(new URL(tab.page.url()).searchParams)

describe('the catalogue', { skip: skipWithoutChromium() }, () => {
  let opened: OpenConsole
  let admin: Tab
  let reader: Tab
  let stranger: Tab
  before(async () => {
    opened = await openConsole({
      plugins: {
        shop: shop('"space:content:read"'),
        hidden: plugin(
          'hidden',
          'title: Hidden tool\ndescription: For its own organization.\nvisibility: private\nscopes: []\ncategories: [visitor-auth]',
        ),
        linked: plugin(
          'linked',
          'title: Linked tool\ndescription: By its link.\nvisibility: unlisted\nscopes: []',
        ),
        '100%': plugin(
          'percent',
          'title: "100% <b>sure</b>"\ndescription: It says so.\nvisibility: public\nscopes: []',
        ),
      },
    })
    const { annex } = opened
    await annex.api('POST', '/v1/orgs', { subdomain: 'acme', title: 'Acme' })
    await annex.api('POST', '/v1/integrations/shop/installations', {
      organization: 'home',
      version: 1,
      scopes: ['space:content:read'],
    })
    writePlugin(annex.pluginsDir, 'shop', shop('"space:content:read", "site:views:read"'))
    await annex.api('POST', '/v1/reload')
    admin = await opened.asMember('home', 'admin')
    reader = await opened.asMember('home', 'reader')
    stranger = await opened.asMember('acme', 'admin')
  })
  after(() => opened?.close())

  it('lists what an organization may install, with its state', async () => {
    await admin.goto(list)
    await admin.page.getByText('New version waits').waitFor()
    await hasTitles(admin, all)
    assert.equal(await admin.page.locator('.catalogue b').count(), 0, 'a title is text')
    const card = (title: string) => admin.page.locator('.catalogue > li', { hasText: title })
    await card('Hidden tool').getByText('Private').waitFor()
    await card('Linked tool').getByText('Unlisted').waitFor()
  })

  it('says what waits for a person, above the list, and leads there', async () => {
    await admin.goto(list)
    await admin.page.getByText('Version 2 of shop waits, as it asks for more.').waitFor()
    await admin.page.getByRole('link', { name: 'See what is new' }).click()
    await admin.page.getByText('Version 2 waits, as it asks for more:').waitFor()
    await admin.page.getByText('Read the visits of the sites that it is installed in').waitFor()
  })

  it('shows an operator the same list as a member', async () => {
    const operator = await opened.asOperator()
    await operator.goto('/orgs/acme/integrations')
    await hasTitles(operator, ['100% <b>sure</b>', 'Shop of words'])
    await operator.close()
  })

  const searches: [typed: string, found: string[]][] = [
    ['SHOP', ['Shop of words']],
    ['readers search', ['Shop of words']],
    ['100%', ['100% <b>sure</b>']],
    ['%', ['100% <b>sure</b>']],
    ['link', ['Linked tool']],
  ]
  for (const [typed, found] of searches)
    it(`finds ${found.join(', ')} by "${typed}", and keeps the words in the address`, async () => {
      await admin.goto(list)
      await admin.page.getByRole('searchbox', { name: 'Search' }).fill(typed)
      await admin.page.waitForURL((url) => url.searchParams.get('q') === typed)
      await hasTitles(admin, found)
      await admin.page.reload()
      await hasTitles(admin, found)
      assert.equal(await admin.page.getByRole('searchbox', { name: 'Search' }).inputValue(), typed)
    })

  it('is filtered by category and by what is installed, and the way back undoes it', async () => {
    await admin.goto(list)
    await admin.page.getByLabel('Category').selectOption('Authenticated access')
    await hasTitles(admin, ['Hidden tool'])
    await admin.page.getByLabel('Category').selectOption('All categories')
    await admin.page.getByLabel('Installed or not').selectOption('Installed')
    await hasTitles(admin, ['Shop of words'])
    assert.deepEqual(query(admin), { shown: 'installed' })
    await admin.page.getByLabel('Installed or not').selectOption('Not installed')
    await hasTitles(admin, ['Hidden tool', 'Linked tool', '100% <b>sure</b>'])
    await admin.page.goBack()
    await hasTitles(admin, ['Shop of words'])
  })

  it('keeps the list while a slow answer is on its way', async () => {
    const { page } = admin
    await admin.goto(list)
    await hasTitles(admin, all)
    let answer = () => {}
    const asked = new Promise<void>((resolve) => {
      answer = resolve
    })
    await page.route('**/v1/integrations?*', async (route) => {
      await asked
      await route.continue()
    })
    await page.getByLabel('Category').selectOption('Authenticated access')
    await page.locator('[aria-busy="true"] .catalogue').waitFor()
    assert.deepEqual(await titles(admin), all)
    answer()
    await hasTitles(admin, ['Hidden tool'])
    await page.locator('[aria-busy="false"] .catalogue').waitFor()
    await page.unrouteAll({ behavior: 'wait' })
  })

  it('says that nothing matches, and clears the filter', async () => {
    await admin.goto(`${list}?q=none+of+them&category=other`)
    await admin.page.getByText('Nothing matches this filter.').waitFor()
    await admin.page.getByRole('button', { name: 'Clear the filter' }).click()
    await admin.page.getByText('Hidden tool').waitFor()
    assert.deepEqual(query(admin), {})
    assert.equal(await admin.page.getByRole('searchbox', { name: 'Search' }).inputValue(), '')
  })

  it('takes an address of another hand as one without a filter', async () => {
    await admin.goto(`${list}?category=none&shown=none&picture=9`)
    await hasTitles(admin, all)
  })

  it('shows what an integration is, can do and cannot do', async () => {
    await reader.goto(list)
    await reader.page.getByRole('link', { name: 'Shop of words' }).click()
    await reader.page.getByRole('heading', { level: 1, name: 'Shop of words' }).waitFor()
    const text = (await reader.page.locator('main').textContent()) ?? ''
    for (const part of [
      'Published by Home',
      'Analytics, Marketing',
      'Send data to api.shop.example.',
      'Reach an organization that has not installed it.',
      'Send data to a host that neither its permissions nor its settings name.',
      'Chart: What readers look for.',
    ])
      assert.ok(text.includes(part), `${part} in ${text}`)
    await reader.page.getByText('Newly asks for').waitFor()
    await reader.page.locator('.changes').getByText('Read the visits of the sites').waitFor()
    const link = reader.page.getByRole('link', { name: 'Handbook' })
    assert.deepEqual(
      [await link.getAttribute('href'), await link.getAttribute('rel')],
      ['https://handbook.example/', 'noopener noreferrer'],
    )
  })

  it('draws the summary without the HTML, the scripts and the pictures of other hosts', async () => {
    const asked: string[] = []
    reader.page.on('request', (request) => asked.push(request.url()))
    await reader.goto(`${list}/shop`)
    const summary = reader.page.locator('.markdown')
    await summary.waitFor()
    assert.match((await summary.textContent()) ?? '', /<b onclick="alert\(1\)">sends<\/b>/)
    assert.equal(await summary.locator('strong').textContent(), 'counts')
    assert.equal(await summary.locator('b, script').count(), 0)
    const own = await summary.getByRole('img', { name: 'Its own' }).getAttribute('src')
    assert.match(own ?? '', /^\/v1\/integrations\/shop\/assets\/.*one\.png$/)
    assert.equal(await summary.locator('img').count(), 1)
    const hrefs = await summary.locator('a').evaluateAll((all) => all.map((one) => one.getAttribute('href')))
    assert.deepEqual(hrefs, ['https://shop.example/key', 'https://pictures.example/chart.png'])
    assert.deepEqual(
      asked.filter((url) => !url.startsWith(opened.url) && !url.startsWith('data:')),
      [],
    )
  })

  it('loads icon and pictures from this host, whatever its name is, and enlarges a picture', async () => {
    await reader.goto(`${list}/shop`)
    const pictures = reader.page.locator('.pictures img')
    await pictures.first().waitFor()
    await until(
      () =>
        reader.page
          .locator('.pictures img, .integration-icon')
          .evaluateAll((all) => all.map((one) => ('naturalWidth' in one ? one.naturalWidth : 0))),
      (widths) => widths.join() === '64,1600,1600',
      20,
    )
    await reader.page.getByRole('button', { name: 'Enlarge picture 1 of 2' }).click()
    await reader.page.getByRole('dialog', { name: 'Picture 1 of 2' }).waitFor()
    await reader.page.keyboard.press('ArrowRight')
    await reader.page.getByRole('dialog', { name: 'Picture 2 of 2' }).waitFor()
    assert.deepEqual(query(reader), { picture: '2' })
    await reader.page.reload()
    await reader.page.getByRole('dialog', { name: 'Picture 2 of 2' }).waitFor()
    await reader.page.keyboard.press('Escape')
    await reader.page.getByRole('dialog').waitFor({ state: 'detached' })
    assert.deepEqual(query(reader), {})
  })

  it('has no page of a private or unlisted integration for another organization', async () => {
    await stranger.goto('/orgs/acme/integrations')
    await hasTitles(stranger, ['100% <b>sure</b>', 'Shop of words'])
    for (const name of ['hidden', 'linked', 'none'])
      for (const rest of ['', '?installKey=guess', '/install', '/install?step=agree&installKey=guess']) {
        await stranger.goto(`/orgs/acme/integrations/${name}${rest}`)
        await stranger.page.getByRole('alert').first().waitFor()
        const shown = (await stranger.page.locator('main').textContent()) ?? ''
        assert.match(shown, new RegExp(`There is no integration ${name}`))
        assert.doesNotMatch(shown, /tool|For its own|By its link/)
      }
    assert.deepEqual(codes(stranger), [404])
  })

  it('shows nothing of an organization to a member of another one', async () => {
    for (const path of [list, `${list}/shop`, `${list}/shop/install?step=agree`]) {
      await stranger.goto(path)
      await stranger.page.getByRole('alert').first().waitFor()
      assert.doesNotMatch((await stranger.page.locator('main').textContent()) ?? '', /tool|words|visits/)
    }
    assert.deepEqual(codes(stranger), [404])
  })

  it('opens an unlisted integration by its link, in the organization of its holder', async () => {
    const { json } = await opened.annex.api('POST', '/v1/integrations/linked/install-links', {
      label: 'Acme',
    })
    const { pathname, search } = new URL(json.app)
    await stranger.goto(pathname + search)
    await stranger.page.getByRole('heading', { level: 1, name: 'Linked tool' }).waitFor()
    assert.equal(new URL(stranger.page.url()).pathname, '/orgs/acme/integrations/linked')
    await stranger.page.getByRole('link', { name: 'Install', exact: true }).click()
    await stranger.page.getByRole('link', { name: 'Read what it asks for' }).click()
    await stranger.page.getByRole('button', { name: 'Agree and install in Acme' }).click()
    await stranger.page.getByText('Your organization has agreed to version 1.').waitFor()
    await stranger.goto('/orgs/acme/integrations/linked')
    await stranger.page.getByRole('link', { name: 'Open installation' }).waitFor()
    assert.deepEqual(stranger.refused, [])
  })

  const looks = [
    { colorScheme: 'light', width: 1280 },
    { colorScheme: 'dark', width: 375 },
  ] as const
  for (const { colorScheme, width } of looks)
    it(`has no barrier and no overflow at ${width} px, ${colorScheme}`, async () => {
      const tab = await opened.asMember('home', 'reader', { width, colorScheme })
      const pages: [path: string, text: string][] = [
        [list, 'Version 2 of shop waits'],
        [`${list}?q=none`, 'Nothing matches this filter.'],
        [`${list}/shop?picture=1`, 'Picture 1 of 2'],
        [`${list}/shop`, 'Newly asks for'],
        [`${list}/hidden/install?sites=sample,gone`, 'The address names places that are not here: gone.'],
        [`${list}/hidden/install?step=agree&sites=sample`, 'Ask an admin'],
        [`${list}/shop/install?step=settings&sites=sample`, 'Settings'],
      ]
      for (const [path, text] of pages) {
        await tab.goto(path)
        await tab.page.getByText(text).first().waitFor()
        assert.deepEqual(await findBarriers(tab.page), [], path)
        assert.ok((await overflowOf(tab.page)) <= 0, `${path} is wider than the window`)
      }
      assert.deepEqual(tab.said, [])
      await tab.close()
    })

  it('writes nothing to the browser’s console', () => {
    assert.deepEqual(
      [admin, reader, stranger].flatMap(({ said }) => said),
      [],
    )
    assert.deepEqual([admin.refused, reader.refused], [[], []])
  })
})
