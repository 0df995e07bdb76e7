import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Annex, startAnnex } from '../support/annex.ts'
import { writePlugin } from '../support/plugin-folder.ts'

const good = `import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: async () => new Response('good') })`

/** Scripts that are bundled without a problem, and cannot be loaded. */
const bad: Record<string, { script: string; files?: Record<string, string>; at: RegExp; says: RegExp }> = {
  'throws at its top level': {
    script: `import { createIntegration } from '@annex/runtime'\nimport { read } from './read.ts'\nexport default createIntegration({ settings: read() })`,
    files: {
      'read.ts': `type A = string\n\nexport const read = (): A => {\n  return undefined.settings\n}\n`,
    },
    at: /\/ours\/read\.ts:4:20$/,
    says: /^the script cannot be loaded: TypeError: Cannot read properties of undefined/,
  },
  'throws in a package': {
    script: `import 'broken'\n${good}`,
    files: { 'node_modules/broken/index.js': `exports.folder = __dirname\n` },
    at: /\/ours\/node_modules\/broken\/index\.js:1:18$/,
    says: /^the script cannot be loaded: ReferenceError: __dirname is not defined$/,
  },
  'exports no integration': {
    script: `import { createIntegration } from '@annex/runtime'\nexport const made = createIntegration({})\nexport default { fetch: async () => new Response('') }`,
    at: /\/ours\/index\.ts:1:1$/,
    says: /^the script cannot be loaded: The entry script does not export an integration\. Write: export default createIntegration\(\{ … \}\)$/,
  },
  'exports nothing': {
    script: `import { createIntegration } from '@annex/runtime'\ncreateIntegration({ fetch: async () => new Response('') })`,
    at: /\/ours\/index\.ts:1:1$/,
    says: /^the script cannot be loaded: The entry script does not export an integration/,
  },
  'never finishes loading': {
    script: `for (;;) {}\n${good}`,
    at: /\/ours\/index\.ts:1:1$/,
    says: /^the script cannot be loaded: (The script used more than \d+ ms of CPU time to load \(SANDBOX_LOAD_MS\)\.$|The machine is too busy)/,
  },
  'takes all memory': {
    script: `const all = []\nfor (;;) all.push(new Array(100_000).fill(all.length))\n${good}`,
    at: /\/ours\/index\.ts:\d:\d+$/,
    says: /^the script cannot be loaded: .*(memory|SANDBOX_LOAD_MS|too busy)/,
  },
  'throws a value that is not an error': {
    script: `throw 'only a text'\n${good}`,
    at: /\/ours\/index\.ts:\d:\d+$/,
    says: /^the script cannot be loaded: .*only a text/,
  },
  'invents the position of its error': {
    script: `const error = new Error('made up')\nerror.stack = 'at annex:ours:999999999:1 at annex:other:1:1 at annex:ours:0:0'\nthrow error\n${good}`,
    at: /\/ours\/index\.ts:1:1$/,
    says: /^the script cannot be loaded: made up$/,
  },
}

describe('a version that fails to load', () => {
  let annex: Annex
  before(async () => {
    annex = await startAnnex({ sandboxes: 'processes', plugins: { ours: { script: good } } })
  })
  after(() => annex.close())

  for (const [what, { script, files = {}, at, says }] of Object.entries(bad)) {
    it(`does not replace a good one: it ${what}`, async () => {
      writePlugin(annex.pluginsDir, 'ours', { script, files })
      const [plugin] = (await annex.api('POST', '/v1/reload')).json.items
      assert.equal(plugin.state, 'failed')
      const problem = plugin.problems.at(-1)
      assert.match(problem.message, says)
      assert.match(`${problem.file}:${problem.line}:${problem.column}`, at)
      assert.doesNotMatch(problem.message, /\n {4}at /)
      assert.equal(await (await fetch(`${annex.url}/x/ours`)).text(), 'good')
      assert.equal((await annex.api('GET', '/v1/integrations/ours')).json.version.number, 1)
    })
  }

  it('is followed by a version that loads', async () => {
    writePlugin(annex.pluginsDir, 'ours', { script: good.replace('good', 'better') })
    const [plugin] = (await annex.api('POST', '/v1/reload')).json.items
    assert.deepEqual([plugin.state, plugin.problems], ['loaded', []])
    assert.equal(await (await fetch(`${annex.url}/x/ours`)).text(), 'better')
  })
})

it('a version that fails to load does not stop the start: the other plugins answer', async () => {
  const annex = await startAnnex({
    plugins: { bad: { script: 'throw new Error("no")' }, good: { script: good } },
  })
  try {
    assert.deepEqual(
      annex.server.plugins.map(({ state }) => state),
      ['failed', 'loaded'],
    )
    assert.equal(await (await fetch(`${annex.url}/x/good`)).text(), 'good')
    assert.equal((await fetch(`${annex.url}/x/bad`)).status, 404)
  } finally {
    await annex.close()
  }
})

/** What a script can do in place of an answer to the question which events it handles. */
const unanswered: Record<string, string> = {
  'never answers': 'new Promise(() => {})',
  'loops without an answer': '(() => { for (;;); })()',
  'answers something other than a list': '({ value: { events: 1 } })',
}

describe('a script with unknown handlers is deployed', () => {
  const cases = Object.entries(unanswered).map(([what, answer], at) => ({ what, answer, name: `own-${at}` }))
  let annex: Annex
  before(async () => {
    const plugins = cases.map(({ name, answer }) => {
      const script = `import { createIntegration } from '@annex/runtime'
createIntegration({})
export default {
  [Symbol.for('annex.dispatch')]: async ({ type }) => type === 'annex_describe' ? ${answer} : new Response('here'),
}`
      return [name, { script }]
    })
    annex = await startAnnex({ sandboxes: 'processes', plugins: Object.fromEntries(plugins) })
  })
  after(() => annex.close())

  for (const { what, name } of cases) {
    it(`when it ${what}`, async () => {
      assert.equal(annex.server.plugins.find((plugin) => plugin.name === name)?.state, 'loaded')
      assert.equal(await (await fetch(`${annex.url}/x/${name}`)).text(), 'here')
    })
  }
})
