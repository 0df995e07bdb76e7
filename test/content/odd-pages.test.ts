import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { parseHTML } from 'linkedom'
import MarkdownIt from 'markdown-it'
import { parsePage, readPage } from '../../host/content/read-page.ts'
import { createFolderReader, type SpaceFolder } from '../../host/content/read-space-folder.ts'
import { frontMatters, oddPages } from './odd-pages.ts'

const markdownIt = new MarkdownIt({ html: true })
// A title has the text of such a link. It is no address.
markdownIt.validateLink = () => true
// Tells headings of Markdown from those of HTML.
markdownIt.core.ruler.push('mark', ({ tokens }) => {
  for (const token of tokens) if (token.type === 'heading_open') token.attrSet('data-markdown', '')
})

/** The text of the first heading, as a browser shows markdown-it's answer. */
function shownHeading(markdown: string): string | undefined {
  const { document } = parseHTML(`<html><body>${markdownIt.render(markdown)}</body></html>`)
  for (const image of document.querySelectorAll('img')) image.replaceWith(image.getAttribute('alt') ?? '')
  for (const end of document.querySelectorAll('br')) end.replaceWith(' ')
  const headings = [...document.querySelectorAll('[data-markdown]')]
  const texts = headings
    .filter((heading) => heading.closest('blockquote, li') === null)
    .map((heading) => (heading.textContent ?? '').replace(/\s+/g, ' ').trim())
  return texts.find((text) => text !== '')
}

describe('a folder of odd pages', () => {
  const root = mkdtempSync(join(tmpdir(), 'annex-odd-'))
  let folder: SpaceFolder
  before(async () => {
    const files = [...oddPages, ...frontMatters.map(([name, text]) => [`front/${name}`, text] as const)]
    for (const [name, text] of files) {
      const file = join(root, `${name}.md`)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text)
    }
    folder = await createFolderReader().read(root, undefined)
  })
  after(() => rmSync(root, { recursive: true, force: true }))

  const titleOf = (path: string) => folder.pages.find((page) => page.path === path)?.title

  it('loses no page, and takes each title from the first heading', () => {
    assert.ok(oddPages.length >= 100, `${oddPages.length} pages`)
    assert.equal(folder.pages.length, oddPages.length + frontMatters.length)
    const wrong = oddPages.flatMap(([name, , title]) => {
      const found = titleOf(name)
      return found === (title ?? name) ? [] : [`${name}: ${found}, not ${title ?? name}`]
    })
    assert.deepEqual(wrong, [])
  })

  it('has the headings that markdown-it shows', () => {
    const cut = ['long', 'long-to-half-a-pair', 'entity-hidden', 'farther-down']
    const wrong = oddPages.flatMap(([name, text]) => {
      const shown = shownHeading(text.replace(/^\ufeff/, '')) ?? name
      return cut.includes(name) || titleOf(name) === shown ? [] : [`${name}: ${titleOf(name)}, not ${shown}`]
    })
    assert.deepEqual(wrong, [])
  })

  it('keeps a page with a wrong field, and reports the field with its line', async () => {
    for (const [name, , expected] of frontMatters) {
      const read = await readPage(root, `front/${name}.md`, undefined)
      assert.ok('page' in read, name)
      const { title = name, description, position, problems } = read.page
      const { markdown = read.markdown, wrong = [], ...fields } = expected
      assert.deepEqual(
        { title, description, position, wrong: problems.map(({ line }) => line) },
        { description: undefined, position: undefined, ...fields, wrong },
        name,
      )
      assert.equal(read.markdown, markdown, name)
    }
    const reported = folder.problems.map(({ file, line, message }) => `${file}:${line} ${message}`)
    const count = frontMatters.reduce((sum, [, , { wrong = [] }]) => sum + wrong.length, 0)
    assert.equal(reported.length, count)
    for (const line of reported) assert.match(line, /"(title|description|position)" of the front matter .+\./)
  })

  it('reads a megabyte of the worst pages quickly', () => {
    const patterns = [
      '# \n',
      '* a\n',
      '* ',
      '> ',
      '[',
      '[a\n',
      '[]: b\n',
      '|a|b|\n|-|-|\n',
      '`',
      '<!--\n',
      '*a ',
      '[](',
      '![',
    ]
    for (const pattern of patterns) {
      const text = `${pattern.repeat(1024 * 1024).slice(0, 1024 * 1024 - 20)}\n`
      for (const bytes of [Buffer.from(text), Buffer.from(`# ${text}`), Buffer.from(`---\n${text}`)]) {
        const before = process.cpuUsage()
        parsePage('worst.md', bytes)
        const { user, system } = process.cpuUsage(before)
        assert.ok(user + system < 1_000_000, `${JSON.stringify(pattern)}: ${user + system} µs`)
      }
    }
  })
})
