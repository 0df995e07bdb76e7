// tier: console (it edits pages in a browser)
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { until } from '../support/annex.ts'
import { findBarriers, overflowOf } from '../support/axe.ts'
import { skipWithoutChromium } from '../support/chromium.ts'
import { type OpenConsole, openConsole, password, readMotion, type Tab } from '../support/console.ts'
import { clips, makeManual, manual, putPage } from './pages-plugins.ts'

const base = '/orgs/home/spaces/manual'

describe('the pages of a space', { skip: skipWithoutChromium() }, () => {
  let opened: OpenConsole
  let tab: Tab
  before(async () => {
    opened = await openConsole({ plugins: { clips } })
    await makeManual(opened.annex, {
      start: { title: 'Start here', markdown: manual },
      install: { title: 'Install', markdown: 'Run it.' },
      'install/linux': { title: 'On Linux', markdown: 'Run it there.', parent: 'install' },
      broken: {
        title: 'Broken blocks',
        markdown: '{% @clips/failing %}\n\n{% @clips/slow %}\n\n{% @gone/block a="b" %}\n\nThe end.',
      },
      mine: { title: 'Mine', markdown: 'one\n\ntwo\n' },
      words: { title: 'Words', markdown: 'Before\n' },
    })
    await opened.annex.api('POST', '/v1/orgs', { subdomain: 'other', title: 'Other' })
    tab = await opened.asOperator()
  })
  after(() => opened.close())

  const area = () => tab.page.getByLabel('Markdown', { exact: true })
  const textIn = () => area().inputValue()
  const stored = async (page: string) =>
    (await opened.annex.api('GET', `/v1/spaces/manual/content/page/${encodeURIComponent(page)}`)).json
      .markdown
  const press = (name: string | RegExp) => tab.page.getByRole('button', { name }).first().click()
  const shows = (text: string) => tab.page.getByText(text).first().waitFor()
  const paste = async (text: string) => {
    await tab.context.grantPermissions(['clipboard-write', 'clipboard-read'])
    await tab.page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`)
    await tab.page.keyboard.press('Control+V')
  }
  const isClean = () => assert.deepEqual([tab.said.splice(0), tab.refused.splice(0)], [[], []])

  it('are read, with their blocks drawn by their scripts', async () => {
    await tab.goto(base)
    await shows('Clip of https://clips.example/1')
    await shows('Chart of 2 lines')
    const { page } = tab
    assert.equal(await page.locator('h1').textContent(), 'Start here')
    assert.deepEqual(await page.locator('main :is(h2, h3)').allInnerTexts(), ['A film'])
    assert.equal(await page.locator('pre').textContent(), "const a = '<b>'\n")
    const links = await page
      .locator('.markdown a')
      .evaluateAll((all) => all.map((one) => one.getAttribute('href')))
    assert.deepEqual(links, [`${base}/pages/install`, 'https://example.com/'])
    await page.getByRole('link', { name: 'how to install' }).click()
    await shows('Run it.')
    await page.getByRole('link', { name: 'On Linux' }).click()
    await shows('Run it there.')
    assert.equal(new URL(page.url()).pathname, `${base}/pages/install/linux`)
    isClean()
  })

  it('open in their list without a turn for who asks the browser for less motion', async () => {
    const icon = "document.querySelector('.twig button .icon')"
    assert.deepEqual(await readMotion(tab.page, icon), { 'no-preference': '0.12s', reduce: '0s' })
  })

  it('show the Markdown of a block that fails, is slow, or is gone', async () => {
    await tab.goto(`${base}/pages/broken`)
    await shows('clips: Failing could not be drawn. This is its Markdown.')
    await shows('clips: Slow has not answered yet.')
    await shows('The integration gone is not installed in this space')
    await shows('The end.')
    const shown = (await tab.page.locator('pre').allInnerTexts()).map((text) => text.trim())
    assert.deepEqual(shown, ['{% @clips/failing %}', '{% @clips/slow %}', '{% @gone/block a="b" %}'])
    await shows('At last')
    assert.equal(await tab.page.getByText('{% @clips/slow %}').count(), 0)
    assert.deepEqual(tab.refused.splice(0), [500])
    isClean()
  })

  it('get a block by the keyboard alone', async () => {
    const { keyboard } = tab.page
    await tab.goto(`${base}/pages/words?edit`)
    await area().focus()
    await keyboard.press('Control+End')
    await keyboard.press('Control+/')
    await tab.page.getByRole('combobox', { name: 'Find a block' }).waitFor()
    const chosen = () =>
      tab.page.getByRole('listbox').getByRole('option', { selected: true }).locator('strong').textContent()
    assert.match((await chosen()) ?? '', /Clip/)
    assert.deepEqual(await findBarriers(tab.page), [])
    await keyboard.press('ArrowUp')
    assert.match((await chosen()) ?? '', /Slow/)
    await keyboard.press('Escape')
    assert.equal(await textIn(), 'Before\n')
    await keyboard.press('Meta+/')
    await keyboard.type('numb')
    assert.match((await chosen()) ?? '', /Chart/)
    assert.equal(await tab.page.getByRole('listbox').getByRole('option').count(), 1)
    await keyboard.press('Enter')
    await until(textIn, (text) => text.includes('chart'))
    await keyboard.type('x: 9')
    assert.equal(await textIn(), 'Before\n\n```chart\nx: 9\n```\n')
    await keyboard.press('Control+S')
    await shows('Chart of 1 lines')
    assert.equal(await stored('words'), 'Before\n\n```chart\nx: 9\n```\n')
    isClean()
  })

  it('make a block of a pasted link, and undo brings the link back', async () => {
    const { keyboard } = tab.page
    await tab.goto(`${base}/pages/install?edit`)
    await area().focus()
    await keyboard.press('Control+End')
    await keyboard.type('\n\n')
    await paste('https://clips.example/7')
    await shows('The link is now a block of Clip.')
    assert.equal(await textIn(), 'Run it.\n\n{% @clips/clip url="https://clips.example/7" %}\n')
    await keyboard.press('Control+Z')
    assert.equal(await textIn(), 'Run it.\n\nhttps://clips.example/7')
    await keyboard.press('Enter')
    await paste('https://clips.example/broken')
    await shows('Clip could not read this link, so it stays a link.')
    await keyboard.press('Enter')
    await paste('https://clips.example/nothing')
    await shows('Clip made nothing of this link.')
    assert.equal(
      await textIn(),
      'Run it.\n\nhttps://clips.example/7\nhttps://clips.example/broken\nhttps://clips.example/nothing',
    )
    assert.deepEqual(tab.refused.splice(0), [500])
    await press('Discard my edit')
    assert.equal(await stored('install'), 'Run it.')
    isClean()
  })

  it('are previewed, and a block changes its properties there', async () => {
    await tab.goto(`${base}/pages/start?edit`)
    await press('Preview')
    await press('Longer')
    await shows('Chart of 3 lines')
    await press('Write')
    assert.match(await textIn(), /```chart\na: 1\nb: 2\nc: 3\n```\n\n```js/)
    await press('Discard my edit')
    isClean()
  })

  it('keep what was typed while another person saves, and after a reload', async () => {
    await tab.goto(`${base}/pages/mine?edit`)
    await area().fill('one\n\nMINE\n')
    await putPage(opened.annex, 'mine', { markdown: 'THEIRS\n\ntwo\n' })
    await press('Save page')
    await shows('Another person has saved this page since you began.')
    const lines = async (tag: string) => tab.page.locator(`.diff ${tag}`).allInnerTexts()
    assert.deepEqual(
      [await lines('del'), await lines('ins')],
      [
        ['THEIRS', 'two'],
        ['one', 'MINE'],
      ],
    )
    await press('Read theirs')
    await shows('THEIRS')
    await tab.page.reload()
    await press('Go on editing')
    assert.equal(await textIn(), 'one\n\nMINE\n')
    await press('Save page')
    await shows('Mine is saved.')
    assert.equal(await stored('mine'), 'one\n\nMINE\n')
    const kept = await opened.annex.api('GET', '/v1/spaces/manual/revisions?limit=2')
    const before = await opened.annex.api(
      'GET',
      `/v1/spaces/manual/revisions/${kept.json.items[1].id}/page/mine`,
    )
    assert.equal(before.json.markdown, 'THEIRS\n\ntwo\n')
    assert.deepEqual(tab.refused.splice(0), [412])
    isClean()
  })

  it('keep what was typed when the session ends, and while Annex does not answer', async () => {
    const own = await opened.asOperator({ ownSession: true })
    const { page } = own
    await own.goto(`${base}/pages/words?edit`)
    await page.getByLabel('Markdown', { exact: true }).fill('typed by Olga')
    await own.context.clearCookies()
    const save = page.getByRole('button', { name: 'Save page' })
    await save.click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Password', { exact: true }).fill(password)
    await page.route('**/content/page/**', (route) => route.abort())
    await dialog.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByText('Annex does not answer. What you typed is still here.').waitFor()
    assert.equal(await page.getByLabel('Markdown', { exact: true }).inputValue(), 'typed by Olga')
    await page.unroute('**/content/page/**')
    await save.click()
    await page.getByText('Words is saved.').waitFor()
    assert.equal(await stored('words'), 'typed by Olga')
    await own.close()
  })

  it('keep what was typed when the page is deleted, and save it as a new one', async () => {
    await putPage(opened.annex, 'gone soon', { title: 'Gone soon', markdown: 'a' })
    await tab.goto(`${base}/pages/gone%20soon?edit`)
    await area().fill('typed')
    await opened.annex.api('DELETE', '/v1/spaces/manual/content/page/gone%20soon')
    await press('Save page')
    await shows('Another person has deleted this page.')
    await press('Save it as a new page')
    await shows('Gone soon is saved.')
    assert.equal(await stored('gone soon'), 'typed')
    assert.deepEqual(tab.refused.splice(0), [404])
    isClean()
  })

  it('are made and deleted', async () => {
    await tab.goto(`${base}/pages/install/linux`)
    await press('New page')
    await tab.page.getByLabel('Title').fill('A new  Page, née ✓')
    assert.equal(await tab.page.getByLabel('Path').inputValue(), 'install/a-new-page-née')
    await press('Make page')
    await area().fill('New text')
    await press('Save page')
    await shows('New text')
    const made = await opened.annex.api(
      'GET',
      `/v1/spaces/manual/content/page/${encodeURIComponent('install/a-new-page-née')}`,
    )
    assert.equal(made.json.title, 'A new  Page, née ✓')
    await tab.page.getByLabel('More actions').click()
    await press('Delete page')
    await tab.page.getByRole('dialog').getByRole('button', { name: 'Delete page' }).click()
    await shows('A new  Page, née ✓ is deleted.')
    assert.equal(await stored('install/a-new-page-née'), undefined)
    isClean()
  })

  it('have revisions that are compared and restored', async () => {
    const { items } = (await opened.annex.api('GET', '/v1/spaces/manual/revisions')).json
    await putPage(opened.annex, 'mine', { markdown: 'later\n' })
    await opened.annex.api('DELETE', '/v1/spaces/manual/content/page/words')
    await tab.goto(`${base}/revisions`)
    assert.match(
      (await tab.page.locator('tbody tr').first().textContent()) ?? '',
      new RegExp(`Revision ${items[0].number + 2}[\\s\\S]*Current`),
    )
    await tab.page.getByRole('link', { name: `Revision ${items[0].number}`, exact: true }).click()
    await tab.page.getByLabel('Compare').selectOption('Changes since then')
    await shows('Deleted')
    assert.deepEqual(await tab.page.locator('.changed-pages summary .chip').allInnerTexts(), [
      'Edited',
      'Deleted',
    ])
    await tab.page.locator('.diff ins').waitFor()
    assert.equal(await tab.page.locator('.diff ins').textContent(), 'later')
    assert.deepEqual(await findBarriers(tab.page), [])
    await press('Restore this revision')
    await shows('2 pages change:')
    await tab.page.getByRole('dialog').getByRole('button', { name: 'Restore this revision' }).click()
    await shows(`Restored as revision ${items[0].number + 3}.`)
    assert.equal(await stored('mine'), 'one\n\nMINE\n')
    assert.equal(await stored('words'), 'typed by Olga')
    // One page of an older revision.
    await tab.goto(`${base}/revisions/${items[0].id}?with=current`)
    await shows('No page differs.')
    isClean()
  })

  it('show nothing to another organization, and let a reader change nothing', async () => {
    const stranger = await opened.asMember('other', 'admin')
    for (const path of [base, `${base}/pages/start?edit`, `${base}/revisions`, `${base}/new`]) {
      await stranger.goto(path)
      await stranger.page.getByRole('alert').waitFor()
      assert.doesNotMatch((await stranger.page.locator('main').textContent()) ?? '', /Start here|Clip|Manual/)
    }
    assert.deepEqual([...new Set(stranger.refused)], [404])
    await stranger.close()
    const reader = await opened.asMember('home', 'reader')
    const reasonOf = (name: string) =>
      reader.page.getByRole('button', { name, exact: true }).first().getAttribute('title')
    await reader.goto(base)
    await reader.page.getByText('Clip of https://clips.example/1').waitFor()
    await reader.page.getByText('Chart of 2 lines').waitFor()
    for (const name of ['Edit', 'New page'])
      assert.match((await reasonOf(name)) ?? '', /needs the role editor/)
    await reader.goto(`${base}/pages/mine?edit`)
    await reader.page.getByLabel('Markdown', { exact: true }).fill('x')
    assert.match((await reasonOf('Save page')) ?? '', /needs the role editor/)
    await reader.page.getByLabel('Markdown', { exact: true }).press('Control+S')
    await reader.goto(`${base}/revisions`)
    await reader.page.getByRole('link', { name: 'Revision 2', exact: true }).click()
    assert.match((await reasonOf('Restore this revision')) ?? '', /needs the role editor/)
    assert.equal(await stored('mine'), 'one\n\nMINE\n')
    assert.deepEqual([reader.said, reader.refused], [[], []])
    await reader.close()
  })

  const looks = [
    { colorScheme: 'light', width: 1280 },
    { colorScheme: 'dark', width: 375 },
  ] as const
  for (const look of looks)
    it(`have no barrier and no overflow at ${look.width} px, ${look.colorScheme}`, async () => {
      const shown = await opened.asOperator(look)
      for (const path of [
        base,
        `${base}/pages/start?edit`,
        `${base}/new`,
        `${base}/revisions`,
        `${base}/none`,
      ]) {
        await shown.goto(path)
        await shown.page.waitForLoadState('networkidle')
        assert.deepEqual(await findBarriers(shown.page), [], path)
        assert.ok((await overflowOf(shown.page)) <= 0, `${path} is wider than the window`)
      }
      assert.deepEqual([shown.said, shown.refused], [[], []])
      await shown.close()
    })
})
