import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseSummary } from '../../host/content/read-summary.ts'

/** Entries as `title -> file`, indented by their depth. */
const outline = (text: string): string[] =>
  parseSummary(text).entries.map(
    ({ title, depth, file }) => `${'  '.repeat(depth)}${title}${file === undefined ? '' : ` -> ${file}`}`,
  )

const cases: [what: string, text: string, entries: string[]][] = [
  ['nothing', '', []],
  ['text alone', '# Contents\n\nText with [a link](a.md).\n', []],
  ['a nested list', '* [A](a.md)\n  * [B](b.md)\n* [C](c.md)\n', ['A -> a.md', '  B -> b.md', 'C -> c.md']],
  ['four spaces', '* [A](a.md)\n    * [B](b.md)\n', ['A -> a.md', '  B -> b.md']],
  ['tabs', '*\t[A](a.md)\n\t*\t[B](b.md)\n', ['A -> a.md', '  B -> b.md']],
  [
    'other marks',
    '- [A](a.md)\n  + [B](b.md)\n\n1. [C](c.md)\n   1) [D](d.md)\n',
    ['A -> a.md', '  B -> b.md', 'C -> c.md', '  D -> d.md'],
  ],
  [
    'a loose list',
    '* [A](a.md)\n\n  Text with [X](x.md).\n\n  * [B](b.md)\n\n* [C](c.md)\n',
    ['A -> a.md', '  B -> b.md', 'C -> c.md'],
  ],
  ['CRLF', '* [A](a.md)\r\n  * [B](b.md)\r\n\r\n## G\r\n', ['A -> a.md', '  B -> b.md', 'G']],
  ['a line without a page', '* Guides\n  * [A](a.md)\n* [B](b.md)\n', ['Guides', '  A -> a.md', 'B -> b.md']],
  [
    'lines without a page in each other',
    '* One\n  * Two\n    * [A](a.md)\n',
    ['One', '  Two', '    A -> a.md'],
  ],
  ['a line without a page at the end', '* [A](a.md)\n  * Later\n', ['A -> a.md', '  Later']],
  ['a link without an address', '* [Later]()\n  * [A](a.md)\n', ['Later', '  A -> a.md']],
  ['a group by its marks', '* **The** `API` &amp; some_file_name\n', ['The API & some_file_name']],
  ['a line with an image alone', '* ![Logo](logo.png)\n', ['Logo']],
  ['an empty line of a list', '*\n* [A](a.md)\n', ['A -> a.md']],
  ['a list without a line of its own', '* * [A](a.md)\n', ['  A -> a.md']],
  ['a task', '* [ ] [A](a.md)\n* [x] Later\n', ['A -> a.md', '[x] Later']],
  ['text around a link', '* See [A](a.md) and [B](b.md)\n', ['A -> a.md']],
  [
    'groups by headings',
    '* [A](a.md)\n\n## One\n* [B](b.md)\n\nTwo\n---\n\n* [C](c.md)\n',
    ['A -> a.md', 'One', '  B -> b.md', 'Two', '  C -> c.md'],
  ],
  ['a group by its closed heading', '## The **API** ##\n', ['The API']],
  [
    'a heading with a page',
    '## [API](api/README.md)\n\n* [B](b.md)\n',
    ['API -> api/README.md', '  B -> b.md'],
  ],
  ['a heading with an address', '## [Web](https://example.com)\n', ['Web']],
  ['an empty heading', '## One\n\n##\n\n* [A](a.md)\n', ['One', 'A -> a.md']],
  ['headings of other levels', '# One\n\n### Three\n\n* [A](a.md)\n', ['A -> a.md']],
  ['a heading in a list', '* ## One\n  * [A](a.md)\n', ['One', '  A -> a.md']],
  ['marks in a title', '* [**A** `b` c\\_d &amp; e_f_g](a.md)\n', ['A b c_d & e_f_g -> a.md']],
  ['brackets in a title', '* [a [b] \\[c\\]](a.md)\n', ['a [b] [c] -> a.md']],
  ['an image in a title', '* [![Logo](l.png) A](a.md)\n', ['Logo A -> a.md']],
  ['no title', '* [](a.md)\n', [' -> a.md']],
  ['a title of a link', '* [A](a.md "The page")\n', ['A -> a.md']],
  ['angles', '* [A](<a b.md>)\n* [C](<c(d.md>)\n', ['A -> a b.md', 'C -> c(d.md']],
  ['parentheses', '* [A](a(b).md)\n', ['A -> a(b).md']],
  ['spaces and %20', '* [A](a%20b.md)\n* [C](c d.md)\n', ['A -> a b.md', '[C](c d.md)']],
  [
    'percents',
    '* [A](50%.md)\n* [B](50%25.md)\n* [C](%252e.md)\n',
    ['A -> 50%.md', 'B -> 50%.md', 'C -> %2e.md'],
  ],
  [
    'other alphabets',
    '* [A](größe/日本.md)\n* [B](gr%C3%B6%C3%9Fe.md)\n',
    ['A -> größe/日本.md', 'B -> größe.md'],
  ],
  ['entities in an address', '* [A](a&amp;b.md)\n', ['A -> a&b.md']],
  ['anchors', '* [A](a.md#part)\n', ['A -> a.md']],
  ['ways', '* [A](./a.md)\n* [B](/b.md)\n* [C](c/../d.md)\n', ['A -> a.md', 'B -> b.md', 'C -> d.md']],
  ['references', '* [A][a]\n* [b]\n\n[a]: a.md\n[B]: b.md\n', ['A -> a.md', 'b -> b.md']],
  ['capitals', '* [A](A.MD)\n', ['A -> A.MD']],
  ['a quote', '> * [A](a.md)\n\n* [B](b.md)\n\n> ## No group\n', ['B -> b.md']],
  ['a quote in a list', '* > [A](a.md)\n* [B](b.md)\n', ['B -> b.md']],
  ['a code block', '```\n* [A](a.md)\n## No group\n```\n\n    * [B](b.md)\n', []],
  ['a comment', '<!--\n* [A](a.md)\n\n## No group\n-->\n* [B](b.md)\n', ['B -> b.md']],
  ['code in a line', '* `[A](a.md)`\n', ['[A](a.md)']],
  ['an escaped link', '* \\[A](a.md)\n', ['[A](a.md)']],
  ['a front matter', '---\ntitle: x\n---\n* [A](a.md)\n', ['A -> a.md']],
]

describe('SUMMARY.md', () => {
  it('has the lists, links and headings that markdown-it finds', () => {
    for (const [what, text, entries] of cases) assert.deepEqual(outline(text), entries, what)
  })

  it('reports links that do not lead to files of the folder, each with its line', () => {
    const hrefs = [
      ...['https://example.com/a.md', '//example.com/a.md', 'mailto:a@example.com', 'javascript:alert(1)'],
      ...[
        '../a.md',
        'a/../../b.md',
        '%2e%2e/a.md',
        '%ff.md',
        '#part',
        'a.txt',
        'folder/',
        'file:///etc/a.md',
      ],
    ]
    const text = hrefs.map((href) => `* [Out](${href})\n`).join('')
    const { entries, problems } = parseSummary(text)
    assert.deepEqual(entries, [])
    assert.deepEqual(
      problems.map(({ line }) => line),
      hrefs.map((_, n) => n + 1),
    )
    for (const { message } of problems)
      assert.match(message, /is no file of the folder\. Name a Markdown file/)
  })

  it('is cut at 20,000 lines, with a report', () => {
    const { entries, problems } = parseSummary('* [A](a.md)\n'.repeat(25_000))
    assert.equal(entries.length, 20_000)
    assert.match(problems[0]?.message ?? '', /more than 20000 lines/)
    assert.equal(problems[0]?.line, 20_001)
  })

  it('of a megabyte of the worst lines is read quickly', () => {
    for (const pattern of [
      '* \n',
      '* a\n',
      '* ',
      '> ',
      '* [',
      '* [a\n',
      '[]: b\n',
      '|a|b|\n|-|-|\n',
      '## a\n',
      '* ![\n',
    ]) {
      const before = process.cpuUsage()
      parseSummary(pattern.repeat(1024 * 1024).slice(0, 1024 * 1024))
      const { user, system } = process.cpuUsage(before)
      assert.ok(user + system < 3_000_000, `${JSON.stringify(pattern)}: ${user + system} µs`)
    }
  })
})
