import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { toMarkdownTree } from '../../host/content/markdown-tree.ts'
import type { MarkdownNode } from '../../schemas/generated/api/common.ts'

/** Its elements in short: `p(It b(…))`. */
const draw = (nodes: readonly MarkdownNode[]): string =>
  nodes
    .map((node) => {
      if (typeof node === 'string') return node
      const { tag, children = [], ...rest } = node
      const values = Object.values(rest).map((value) => ` ${value}`)
      return `<${tag}${values.join('')}>${draw(children)}</${tag}>`
    })
    .join('')

const cases: [name: string, markdown: string, tree: string][] = [
  ['an empty text', '', ''],
  ['paragraphs', 'one\ntwo\n\nthree', '<p>one\ntwo</p><p>three</p>'],
  ['a hard break', 'one  \ntwo', '<p>one<br></br>two</p>'],
  ['marks', '*a* **b** ~~c~~ `d`', '<p><em>a</em> <strong>b</strong> <s>c</s> <code>d</code></p>'],
  ['headings', '# a\n\n###### b', '<h1>a</h1><h6>b</h6>'],
  ['a tight list', '- a\n- b', '<ul><li>a</li><li>b</li></ul>'],
  ['a loose list', '- a\n\n- b', '<ul><li><p>a</p></li><li><p>b</p></li></ul>'],
  ['a list that begins at three', '3. a', '<ol 3><li>a</li></ol>'],
  ['a quote', '> a', '<blockquote><p>a</p></blockquote>'],
  ['a fence', '```js\n<b>\n```', '<pre><code><b>\n</code></pre>'],
  ['indented code', '    <b>', '<pre><code><b>\n</code></pre>'],
  ['a rule', '---', '<hr></hr>'],
  [
    'a table',
    '| a |\n|---|\n| b |',
    '<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>b</td></tr></tbody></table>',
  ],
  ['a link', '[a *b*](https://example.com/x)', '<p><a https://example.com/x>a <em>b</em></a></p>'],
  ['a link by reference', '[a][1]\n\n[1]: http://example.com', '<p><a http://example.com/>a</a></p>'],
  ['an address of mail', '<me@example.com>', '<p><a mailto:me@example.com>me@example.com</a></p>'],
  ['entities', '&lt;b&gt; &amp; \\*', '<p><b> & *</p>'],
  [
    'a picture',
    '![A *chart*](https://example.com/a.png)',
    '<p><img https://example.com/a.png>A chart</img></p>',
  ],
  ['a picture without a text', '![](http://example.com)', '<p><img http://example.com/></img></p>'],
  [
    'a picture in a link',
    '[![build](https://example.com/a.svg)](https://example.com/)',
    '<p><a https://example.com/><img https://example.com/a.svg>build</img></a></p>',
  ],
  ['a picture by reference', '![a][1]\n\n[1]: http://a.example/b', '<p><img http://a.example/b>a</img></p>'],
  ['a picture of the folder', '![A chart](./a%20b.png?c#d)', '<p><img ./a b.png>A chart</img></p>'],
  ['a picture at an address of mail', '![A chart](mailto:me@example.com)', '<p>A chart</p>'],
  ['a picture in an address', '![A chart](data:image/png;base64,AAAA)', '<p>A chart</p>'],
]

/** Texts that try to bring more than text into a page. */
const attacks: [name: string, markdown: string][] = [
  ['a script', '<script>alert(1)</script>'],
  ['an element with a handler', 'a <img src=x onerror=alert(1)> b'],
  ['a frame', '<iframe src="https://evil.example"></iframe>'],
  ['a style', '<style>body { display: none }</style>'],
  ['a script as an address', '[a](javascript:alert(1))'],
  ['a script as an address, in other letters', '[a](JaVaScRiPt:alert(1))'],
  ['a script as an address, with an entity', '[a](java&#115;cript:alert(1))'],
  ['a script as an address, behind a tab', '[a](java&Tab;script:alert(1))'],
  ['a script as an address in a reference', '[a]\n\n[a]: javascript:alert(1)'],
  ['a document as an address', '[a](data:text/html,<script>alert(1)</script>)'],
  ['a file', '[a](file:///etc/passwd)'],
  ['a view of the source', '[a](view-source:https://example.com)'],
  ['an address of Annex', '[a](/v1/orgs)'],
  ['an address without a scheme', '[a](//evil.example)'],
  ['a picture of a script', '![a](javascript:alert(1))'],
  ['a picture of a script, with an entity', '![a](java&#115;cript:alert(1))'],
  ['a picture that is a document', '![a](data:image/svg+xml,<svg onload=alert(1)>)'],
  ['a picture in an address', '![a](data:image/png;base64,AAAA)'],
  ['a picture that is a file', '![a](file:///etc/passwd)'],
  ['a picture of Annex', '![a](/v1/orgs)'],
  ['a picture without a scheme', '![a](//evil.example/a.png)'],
  ['a picture behind a backslash', '![a](\\\\evil.example/a.png)'],
  ['a picture with a handler', '![a" onerror="alert(1)](https://example.com/a.png "x onload=alert(1)")'],
  ['a handler in a title', '[a](https://example.com "x onmouseover=alert(1)")'],
  ['a language of a fence', '```js" onclick="alert(1)\na\n```'],
]
const fields: ReadonlySet<string> = new Set(['tag', 'href', 'start', 'children'])

describe('Markdown as a tree', () => {
  for (const [name, markdown, tree] of cases)
    it(`has ${name}`, () => {
      assert.equal(draw(toMarkdownTree(markdown)), tree)
    })

  for (const [name, markdown] of attacks)
    it(`has no way in for ${name}`, () => {
      const visit = (node: MarkdownNode): void => {
        if (typeof node === 'string') return
        assert.doesNotMatch(node.tag, /script|iframe|style/)
        assert.deepEqual(
          Object.keys(node).filter((key) => !fields.has(key)),
          [],
        )
        if (node.href !== undefined) assert.match(node.href, /^(https?:\/\/|mailto:)/)
        assert.ok(node.tag !== 'img' || /^https?:/.test(node.href ?? ''), 'fetched from another host alone')
        node.children?.forEach(visit)
      }
      toMarkdownTree(markdown).forEach(visit)
    })

  it('ends, however deep its quotes, lists and marks are', () => {
    for (const part of ['> ', '- ', '*', '[', '![', '**a ', '`', '<', '\t', '| a ']) {
      const depth = (nodes: readonly MarkdownNode[]): number =>
        nodes.reduce(
          (most: number, node) =>
            typeof node === 'string' ? most : Math.max(most, 1 + depth(node.children ?? [])),
          0,
        )
      assert.ok(depth(toMarkdownTree(`${part.repeat(1000)}a`)) < 300, part)
    }
  })
})
