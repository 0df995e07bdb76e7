import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createSdkReference } from '../../docs/generate/sdk-reference.ts'
import * as jsx from '../../runtime/sdk/jsx-runtime.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

describe('docs/sdk.md', () => {
  const page = readFileSync(join(root, 'docs/sdk.md'), 'utf8')
  const headings = new Set([...page.matchAll(/^### (\w+)$/gm)].map(([, name]) => name))
  const aliases = new Set(
    [...page.matchAll(/^Also exported as (.*)\.$/gm)].flatMap(([, names = '']) =>
      [...names.matchAll(/\w+/g)].map(([name]) => name),
    ),
  )

  it('has exactly the names that the SDK exports', () => {
    const index = readFileSync(join(root, 'runtime/sdk/index.ts'), 'utf8')
    const exported = [...index.matchAll(/\{([^}]*)\}/g)]
      .flatMap(([, names = '']) => names.split(','))
      .map((name) => name.trim().replace(/^type |^\w+ as /, ''))
      .filter((name) => name !== '')
    assert.ok(exported.length > 30)
    const named = [...headings, ...aliases].toSorted()
    assert.deepEqual(named, [...exported, ...Object.keys(jsx), 'JSX'].toSorted())
  })

  it('is generated from the current sources', () => {
    const [, generated = ''] = /<!-- sdk -->\n([\s\S]*)\n<!-- \/sdk -->/.exec(page) ?? []
    assert.equal(generated, createSdkReference(root, 'runtime/sdk'))
  })
})

describe('the page of an SDK', () => {
  let folder: string
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'annex-sdk-page-'))
  })
  after(() => rmSync(folder, { recursive: true }))
  const pageOf = (files: Record<string, string>) => {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
    return createSdkReference(folder, '.')
  }

  it('has signature, text, arguments, results, errors, limits, aliases and used types', () => {
    const page = pageOf({
      'index.ts': "export { pay, pay as settle } from './pay.ts'",
      'pay.ts': `import type { Coin as Money } from './coin.ts'
/**
 * Pays. It takes
 * a while.
 *
 * @param coin one that
 *   is there
 * @returns the change
 * @throws RangeError for less
 * @limit ten coins
 */
export const pay = (coin: Money, often = 1) => ({ rest: coin, often })
/** @internal */
export const secret = 'not on the page'
`,
      'coin.ts': '/** A coin. */\nexport type Coin = { worth: number }\nexport type Unused = 1\n',
    })
    assert.equal(
      page,
      `| export | |
|---|---|
| [\`pay\`](#pay) | Pays. |

## Functions and classes

### pay

Pays. It takes a while.

\`\`\`ts
const pay: (
  coin: Money,
  often?: number,
) => {
  rest: Money
  often: number
}
\`\`\`

- \`coin\`: one that is there
- Returns the change
- Throws RangeError for less
- Limit: ten coins

Also exported as \`settle\`.

## Types that these name

The SDK exports none of them.

\`\`\`ts
/** A coin. */
type Coin = {
  worth: number
}
\`\`\``,
    )
  })

  it('is refused if an export has no doc comment', () => {
    assert.throws(
      () => pageOf({ 'index.ts': 'export const bare = 1\n' }),
      /^Error: index\.ts: "bare" is exported and has no doc comment/,
    )
  })
})
