import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { drawPage } from '../../host/content/draw-page.ts'
import { toMarkdownTree, toPageTree } from '../../host/content/markdown-tree.ts'
import type { MarkdownNode, MarkdownTree } from '../../schemas/generated/api/common.ts'

type Element = Exclude<MarkdownNode, string>

const elements = (nodes: MarkdownTree): Element[] =>
  nodes.flatMap((node) => (typeof node === 'string' ? [] : [node, ...elements(node.children ?? [])]))
const find = (tag: string, markdown: string): Element | undefined =>
  elements(toPageTree(markdown)).find((element) => element.tag === tag)
const text = (nodes: MarkdownTree): string =>
  nodes.map((node) => (typeof node === 'string' ? node : text(node.children ?? []))).join('')

describe('a page as a tree', () => {
  const blocks: [name: string, markdown: string, props: object][] = [
    ['no property', '{% @clips/clip %}', {}],
    [
      'texts',
      '{% @clips/clip url="https://a.example/?b=%}" title="a \\"b\\"" %}',
      { url: 'https://a.example/?b=%}', title: 'a "b"' },
    ],
    [
      'other values',
      '{% @clips/clip n=-1.5 on=true no=null of={"a":[1,"x y"]} %}',
      { n: -1.5, on: true, no: null, of: { a: [1, 'x y'] } },
    ],
    ['several lines', '{% @clips/clip text="a\n\n- b" %}', { text: 'a\n\n- b' }],
    ['odd letters', '{% @clips/clip text="עברית 😀" %}', { text: 'עברית 😀' }],
    ['the name of a method', '{% @clips/clip constructor="a" %}', { constructor: 'a' }],
  ]
  for (const [name, markdown, props] of blocks)
    it(`has a block with ${name}`, () => {
      const [before, block, after] = toPageTree(`one\n${markdown}\ntwo`)
      assert.deepEqual(
        [before, after],
        [
          { tag: 'p', children: ['one'] },
          { tag: 'p', children: ['two'] },
        ],
      )
      const lines = [1, 1 + markdown.split('\n').length]
      assert.deepEqual(block, {
        tag: 'block',
        integration: 'clips',
        block: 'clip',
        props,
        lines,
        children: [markdown],
      })
    })

  const noBlocks = [
    ...[
      '{% @clips/clip',
      '{% @clips/clip a=1',
      '{% @clips %}',
      '{% clips/clip %}',
      '{% @clips/clip a %}',
      '{% @clips/clip a=b %}',
    ],
    ...[
      '{% @clips/clip a="b" %} and more',
      'see {% @clips/clip %}',
      '> {% @clips/clip %}',
      '- {% @clips/clip %}',
      '    {% @clips/clip %}',
    ],
    ...[
      '{% @clips/clip __proto__={"a":1} %}',
      '{% @clips/a/b %}',
      '{% @../x %}',
      '{% @clips/clip a="b"c="d" %}',
      '`{% @clips/clip %}`',
    ],
    `{% @clips/clip a=${'['.repeat(100_000)} %}`,
    '{% @clips/clip a=1 a=1 %}',
    `{% @clips/clip ${Array.from({ length: 101 }, (_, n) => `a${n}=1 `).join('')}%}`,
  ]
  for (const markdown of noBlocks)
    it(`leaves ${markdown.slice(0, 40)} as it is`, () => assert.equal(find('block', markdown), undefined))

  it('has a block in no other Markdown than that of pages', () => {
    assert.deepEqual(toMarkdownTree('{% @a/b %}'), [{ tag: 'p', children: ['{% @a/b %}'] }])
  })

  it('has the language of a fence, and the lines of code', () => {
    assert.deepEqual(toPageTree('a\n\n```mermaid wide\nx\n```'), [
      { tag: 'p', children: ['a'] },
      { tag: 'pre', language: 'mermaid', lines: [2, 5], children: [{ tag: 'code', children: ['x\n'] }] },
    ])
  })

  const links: [address: string, page: string | undefined][] = [
    ['b.md', 'b.md'],
    ['../b/c.md#part', '../b/c.md'],
    ['/b', '/b'],
    ['b%20c.md', 'b c.md'],
    ['#part', undefined],
    ['//evil.example', undefined],
    ['/\\evil.example', undefined],
    ['javascript:alert(1)', undefined],
    ['%zz', '%zz'],
  ]
  for (const [address, page] of links)
    it(`names the page of ${address}`, () => {
      const link = find('a', `[x](<${address}>)`)
      assert.equal(link?.href, undefined)
      assert.equal(link?.page, page)
    })

  it('answers others while it draws a long page, and ends', async () => {
    const row = 'Some *text* and `code`.\n'
    const long = drawPage(row.repeat(5_000))
    const hostile = drawPage('[[]'.repeat(340_000))
    const began = performance.now()
    assert.deepEqual(await drawPage('a'), [{ tag: 'p', children: ['a'] }])
    assert.ok(performance.now() - began < 500)
    assert.match(text(await long), /^(Some text and code\.\n){4999}Some text and code\.$/)
    assert.equal(text(await hostile), '[[]'.repeat(340_000))
  })

  it('is its Markdown where it takes too long', async () => {
    const long = 'a *b*\n'.repeat(5_000)
    assert.deepEqual(await drawPage(long, 1), [{ tag: 'pre', children: [long] }])
    assert.notDeepEqual(await drawPage(long), [{ tag: 'pre', children: [long] }])
  })

  it('ends soon for many blocks that are not closed', () => {
    const began = performance.now()
    toPageTree('{% @a/b c="\n\n'.repeat(600))
    toPageTree('{% @a/b c= '.repeat(700))
    assert.ok(performance.now() - began < 1_000)
  })
})
