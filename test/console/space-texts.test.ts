import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  findUnfurling,
  isOnOwnLine,
  matchesPattern,
  replaceLines,
  standAlone,
  toBlockText,
} from '../../host/console/app/pages/space/block-text.ts'
import { toOutline } from '../../host/console/app/pages/space/outline.ts'
import { findLinked } from '../../host/console/app/pages/space/page-list.ts'
import { addressOf, parsePart } from '../../host/console/app/pages/space/space-address.ts'
import { toPageTree } from '../../host/content/markdown-tree.ts'
import type { Block } from '../../schemas/generated/api/content.ts'

const clip: Block = {
  object: 'block',
  id: 'clip',
  integration: 'clips',
  integrationTitle: 'Clips',
  installation: 'inst_1',
  space: 'space_1',
  title: 'Clip',
  urlUnfurl: ['https://clips.example/**'],
}
const chart: Block = { ...clip, id: 'chart', urlUnfurl: [], markdown: { codeblock: 'chart', body: 'text' } }

describe('a block as Markdown', () => {
  const props: Record<string, unknown>[] = [
    {},
    { url: 'https://clips.example/?a=%}&b="c"' },
    {
      text: 'two\nlines\twith \\ and \u2028 and 😀',
      n: -1.5e300,
      on: false,
      no: null,
      list: [1, { 'a b': '%}' }],
    },
    { text: '{% @a/b %}' },
    { long: ' x'.repeat(10_000) },
  ]
  for (const given of props)
    it(`is read as it was written: ${JSON.stringify(given).slice(0, 50)}`, () => {
      const [block, ...rest] = toPageTree(toBlockText(clip, given))
      assert.ok(typeof block === 'object')
      assert.deepEqual([block.integration, block.block, block.props, rest], ['clips', 'clip', given, []])
    })

  it('leaves out names that Markdown cannot have', () => {
    assert.equal(toBlockText(clip, JSON.parse('{"__proto__":1,"a b":2,"":3,"c":4}')), '{% @clips/clip c=4 %}')
  })

  it('is a fence where that holds all its properties', () => {
    assert.equal(toBlockText(chart, { text: 'a: 1' }), '```chart\na: 1\n```')
    assert.equal(toBlockText(chart, {}), '```chart\n\n```')
    assert.equal(toBlockText(chart, { text: 'a\n```\nb' }), '````chart\na\n```\nb\n````')
    assert.equal(toBlockText(chart, { text: 'a', wide: true }), '{% @clips/chart text="a" wide=true %}')
  })

  const places: [before: string, after: string, wanted: string][] = [
    ['', '', 'B\n'],
    ['a', '', 'a\n\nB\n'],
    ['a\n', '\nb', 'a\n\nB\n\nb'],
    ['a\n\n', '\n\nb', 'a\n\nB\n\nb'],
    ['a ', ' b', 'a \n\nB\n\n b'],
  ]
  for (const [before, after, wanted] of places)
    it(`stands alone in ${JSON.stringify(`${before}|${after}`)}`, () => {
      const text = standAlone(before + after, before.length, before.length, 'B')
      assert.equal(before + text + after, wanted)
    })

  it('replaces its own lines', () => {
    assert.equal(replaceLines('a\nb\nc\nd', [1, 3], 'x\ny\nz'), 'a\nx\ny\nz\nd')
    assert.equal(isOnOwnLine('a\n  \nb', 3, 3), true)
    assert.equal(isOnOwnLine('a\nsee \nb', 6, 6), false)
  })
})

describe('a pasted link', () => {
  const matching: [pattern: string, link: string][] = [
    ['https://clips.example/**', 'https://clips.example/1'],
    ['https://clips.example/**', 'https://CLIPS.example'],
    ['https://*.example.com/a/*/b', 'https://x.example.com/a/1/2/b'],
    ['*.example.com/**', 'http://x.example.com/?q#h'],
    ['http*://example.com/**', 'https://example.com/'],
    ['https://example.com/a?b=*', 'https://example.com/a?b=c'],
    ['http://localhost:3000/*', 'http://localhost:3000/x'],
    ['https://clips.example/*/end', 'https://clips.example/end/end'],
  ]
  for (const [pattern, link] of matching)
    it(`${link} matches ${pattern}`, () => assert.equal(matchesPattern(pattern, link), true))

  const others: [pattern: string, link: string][] = [
    ['https://clips.example/**', 'http://clips.example/1'],
    ['https://clips.example/**', 'https://clips.example.evil.example/'],
    ['https://clips.example/**', 'https://evil.example/https://clips.example/1'],
    ['https://clips.example/**', 'https://clips.example@evil.example/'],
    ['https://*.clips.example/**', 'https://evil.example/x.clips.example/'],
    ['https://*.clips.example/**', 'https://clips.example/'],
    ['https://clips.example/*/end', 'https://clips.example/end'],
    ['https://example.com/a', 'https://example.com/A'],
    ['**', 'https://bank.example/secret'],
    ['*', 'https://bank.example/secret'],
    ['https://**', 'https://bank.example/secret'],
    ['*://*/*', 'https://bank.example/secret'],
    ['https://*.*/**', 'https://bank.example/secret'],
    ['https://*.com/**', 'https://bank.com/secret'],
    ['https://*example/**', 'https://bank.example/secret'],
    ['https://*.co.uk/**', 'javascript:alert(1)'],
    ['https://clips.example/**', 'https://clips.example/a b'],
    ['', 'https://clips.example/'],
    ['/a/**', 'https://clips.example/a/b'],
  ]
  for (const [pattern, link] of others)
    it(`${link} does not match ${pattern || 'nothing'}`, () =>
      assert.equal(matchesPattern(pattern, link), false))

  it('becomes the first block that matches, soon for a hostile pattern', () => {
    const hostile: Block = {
      ...clip,
      id: 'hostile',
      urlUnfurl: [`https://a.example/${'*a'.repeat(1_000)}*b`],
    }
    const began = performance.now()
    const link = `https://a.example/${'a'.repeat(100_000)}`
    assert.equal(findUnfurling([hostile, clip], link), undefined)
    assert.equal(findUnfurling([hostile, clip], 'https://clips.example/1'), clip)
    assert.ok(performance.now() - began < 1_000)
  })
})

describe('a page of a space', () => {
  it('has headings below its title, with no level left out', () => {
    const levels = (markdown: string): string[] =>
      toOutline(toPageTree(markdown), 'Title').flatMap((node) => (typeof node === 'string' ? [] : [node.tag]))
    assert.deepEqual(levels('# Title\n\n## a\n\n#### b\n\n###### c\n\n## d'), ['h2', 'h3', 'h4', 'h2'])
    assert.deepEqual(levels('# Other\n\n### a\n\n# b'), ['h2', 'h3', 'h2'])
    assert.deepEqual(levels('text\n\n# Title'), ['p', 'h2'])
  })

  const paths = new Set(['index', 'guides', 'guides/start', 'guides/deep/end', 'start', 'a b'])
  const links: [from: string, address: string, to: string | undefined][] = [
    ['guides', 'start.md', 'guides/start'],
    ['start', 'guides/README.md', 'guides'],
    ['guides/start', 'deep/end.md', 'guides/deep/end'],
    ['guides/start', '../start.md', 'start'],
    ['guides/deep/end', '../../start', 'start'],
    ['guides/deep/end', '/guides/start/', 'guides/start'],
    ['start', 'a b.md', 'a b'],
    ['start', '../../etc/passwd', undefined],
    ['start', 'gone.md', undefined],
    ['start', 'guides/START.MD', undefined],
  ]
  for (const [from, address, to] of links)
    it(`at ${from} links by ${address} to ${to}`, () => assert.equal(findLinked(paths, from, address), to))

  it('has an address that names it again', () => {
    for (const path of ['a', 'a/b', 'new', 'revisions/x', 'a b/ü?#%2F', 'עברית']) {
      const [, , , , , ...rest] = new URL(addressOf('o', 's', 'pages', path), 'http://a').pathname.split('/')
      assert.deepEqual(parsePart(rest.map(decodeURIComponent).join('/')), { kind: 'page', path })
    }
    assert.deepEqual(parsePart(), { kind: 'page', path: undefined })
    assert.deepEqual(parsePart('new/x'), { kind: 'unknown' })
    assert.deepEqual(parsePart('revisions/rev_1'), { kind: 'revision', id: 'rev_1' })
  })
})
