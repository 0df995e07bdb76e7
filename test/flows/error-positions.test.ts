import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Annex, type Json, startAnnex, until } from '../support/annex.ts'

/** Where an error is thrown is marked in the sources, so that each test says by name what the log must point at. */
const index = `import { createIntegration } from '@annex/runtime'
import { outer, type Shape } from './lib/outer'
import broken from 'broken'
import { Card } from './ui/card.tsx'

interface Unused { gone: string }
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

async function viaAwait(): Promise<never> {
  await wait(1)
  throw /*await*/new RangeError('after an await')
}

class Store {
  #name = 'ünï'; get name(): string { const { length } = this.#name; throw /*getter*/new TypeError(\`getter \${length}\`) }
}

const attacks: Record<string, (request: Request, waitUntil: (promise: Promise<unknown>) => void) => unknown> = {
  handler: () => { throw /*handler*/new Error('in the handler') },
  nested: () => outer({ side: 1 } satisfies Shape),
  await: () => viaAwait(),
  getter: () => new Store().name,
  package: () => /*caller*/broken('x'),
  jsx: () => /*jsx*/Card({ title: null as unknown as string }),
  undefined: (request) => (request as unknown as { user: { name: string } }).user/*member*/.name,
  json: async (request) => await request/*json*/.json(),
  pieces: async (request) => /*pieces*/await request.json(),
  fetch: async () => /*fetch*/await fetch('http://127.0.0.1:4444/'),
  crypto: async () => /*crypto*/await crypto.subtle.importKey('raw', new Uint8Array(3), 'AES-GCM', false, ['encrypt']),
  url: () => /*url*/new URL('no url'),
  cause: () => { try { JSON.parse('{') } catch (cause) { throw /*cause*/new Error('settings', { cause }) } },
  timer: async () => { setTimeout(() => { throw /*timer*/new Error('in a timer') }, 1); await wait(30); return new Response('fine') },
  microtask: async () => { queueMicrotask(() => { throw /*microtask*/new Error('in a microtask') }); await wait(1); return new Response('fine') },
  listener: () => { const target = new EventTarget(); target.addEventListener('x', () => { throw /*listener*/new Error('in a listener') }); target.dispatchEvent(new Event('x')); return new Response('fine') },
  floating: () => { (async () => { await null; throw /*floating*/new Error('nobody awaits') })(); return new Response('fine') },
  later: (_request, waitUntil) => { waitUntil(wait(1).then(() => { throw /*later*/new Error('after the answer') })); return new Response('fine') },
  console: () => { console.error(/*console*/new Error('only logged')); return new Response('fine') },
}
export default createIntegration({
  fetch: async (request, { waitUntil }) => (await attacks[new URL(request.url).pathname.split('/').at(-1) ?? '']?.(request, waitUntil)) as Response,
})
`
const files = {
  'lib/outer.ts': `import { inner } from './inner.js'
export type Shape = { side: number }
export function outer(shape: Shape): number {
  return /*outer*/inner(shape.side)
}
`,
  'lib/inner.js': `// Plain JavaScript, and a tab before the error.
export const inner = (side) => {
\tif (side) throw /*inner*/new Error('in a nested module')
}
`,
  'ui/card.tsx': `/** @jsxRuntime automatic */
export function Card({ title }: { title: string }) {
  return (
    <card
      title={title/*tsx*/.toUpperCase()}
    />
  )
}
`,
  'node_modules/broken/package.json': '{"name":"broken","main":"lib.js"}',
  'node_modules/broken/lib.js': `'use strict'
module.exports = function broken(text) {
  return text/*package*/.missing()
}
`,
}

/** `file:line:column` of what follows a mark. The engine points at the name of a method, and at `new`. */
function positionOf(mark: string): string {
  const [found] = Object.entries({ 'index.ts': index, ...files }).filter(([, text]) =>
    text.includes(`/*${mark}*/`),
  )
  assert.ok(found, mark)
  const [file, text] = found
  const at = text.indexOf(`/*${mark}*/`) + mark.length + 4
  const before = text.slice(0, at)
  const shift = text[at] === '.' ? 1 : 0
  return `plugins/marks/${file}:${before.split('\n').length}:${at - before.lastIndexOf('\n') + shift}`
}

/** A body that is longer than one message comes in pieces: what is wrong with it is thrown after the `await`. */
const bodies: Record<string, string> = { pieces: `[${'1,'.repeat(600_000)}}` }

const cases: [path: string, message: string, ...marks: string[]][] = [
  ['handler', 'Error: in the handler', 'handler'],
  ['nested', 'Error: in a nested module', 'inner', 'outer'],
  ['await', 'RangeError: after an await', 'await'],
  ['getter', 'TypeError: getter 3', 'getter'],
  ['package', 'TypeError: text.missing is not a function', 'package', 'caller'],
  ['jsx', "TypeError: Cannot read properties of null (reading 'toUpperCase')", 'tsx', 'jsx'],
  ['undefined', "TypeError: Cannot read properties of undefined (reading 'name')", 'member'],
  ['crypto', 'DataError: ', 'crypto'],
  ['url', 'no url', 'url'],
  ['cause', 'Error: settings', 'cause'],
  ['timer', 'Error: in a timer', 'timer'],
  ['microtask', 'Error: in a microtask', 'microtask'],
  ['listener', 'Error: in a listener', 'listener'],
  ['floating', 'Error: nobody awaits', 'floating'],
  ['later', 'Error: after the answer', 'later'],
  ['console', 'Error: only logged', 'console'],
  ['json', 'SyntaxError: Unexpected end', 'json'],
  ['pieces', "SyntaxError: Unexpected token '}'", 'pieces'],
  ['fetch', 'TypeError: fetch failed', 'fetch'],
]

describe('an error in the log names the author’s file, line and column', () => {
  let annex: Annex
  before(async () => {
    annex = await startAnnex({ plugins: { marks: { script: index, files } } })
  })
  after(() => annex.close())

  for (const [path, message, ...marks] of cases) {
    it(`${path}: at ${marks.join(', called at ')}`, async () => {
      const body = bodies[path]
      const response = await fetch(`${annex.url}/x/marks/${path}`, body ? { method: 'POST', body } : {})
      await response.text()
      const { json } = await until(
        () => annex.api('GET', '/v1/logs'),
        (answered) => answered.json.items.some((item: Json) => item.text.includes(message)),
      )
      const text: string = json.items.find((item: Json) => item.text.includes(message)).text
      const positions = [...text.matchAll(/plugins\/marks\/\S+?:\d+:\d+/g)].map(([position]) => position)
      assert.deepEqual(positions.slice(0, marks.length), marks.map(positionOf), text)
      assert.doesNotMatch(text, /annex:|runtime\/(?:web|process)|file:\/\//)
    })
  }
})

describe('the log keeps the values beside an error', () => {
  const script = `import { createIntegration } from '@annex/runtime'
const early = new Error('made while loading')
export default createIntegration({
  fetch: () => {
    console.log('A', early, 'for user 42', { err: new Error('b'), user: 42 })
    throw Object.assign(new AggregateError([new Error('part')], 'all failed', { cause: { code: 7 } }), { status: 503 })
  },
})`
  it('the text after it, its properties, inner errors and cause', async (t) => {
    const annex = await startAnnex({ plugins: { kept: { script } } })
    t.after(() => annex.close())
    await (await fetch(`${annex.url}/x/kept`)).text()
    const { json } = await until(
      () => annex.api('GET', '/v1/logs'),
      (answered) => answered.json.items.length >= 2,
    )
    const texts = json.items.map(({ text }: Json) => text.replaceAll(/(\n {4}at .*?\.ts:\d+:\d+\)?)+/g, '@'))
    assert.deepEqual(texts.toSorted(), [
      'A Error: made while loading@ for user 42 { err: Error: b@, user: 42 }',
      'AggregateError: all failed@\n  { status: 503 }\n  errors[0]: Error: part@\n  caused by: { code: 7 }',
    ])
  })
})

describe('an unhandled rejection', () => {
  const script = `import { createIntegration } from '@annex/runtime'
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const ways = {
  now: () => { console.log('before'); Promise.reject(new Error('now')) },
  object: () => { Promise.reject({ code: 1 }) },
  text: () => { Promise.reject('text') },
  undefined: () => { Promise.reject() },
  async: () => { (async () => { throw undefined })() },
  null: () => { Promise.reject(null) },
  zero: () => { Promise.reject(0) },
  symbol: () => { Promise.reject(Symbol('s')) },
  empty: () => { Promise.reject('') },
  microtask: () => { (async () => { await null; throw new Error('microtask') })() },
  waiting: async () => { Promise.reject(new Error('waiting')); await wait(5) },
  later: (waitUntil) => { waitUntil(wait(5).then(() => { Promise.reject(new Error('later')) })) },
}
export default createIntegration({
  fetch: async (request, { waitUntil }) => { await ways[new URL(request.url).pathname.split('/').at(-1)](waitUntil); return new Response('fine') },
})`
  let annex: Annex
  before(async () => {
    annex = await startAnnex({ plugins: { floats: { script } } })
  })
  after(() => annex.close())

  for (const [thrown, why] of [
    ['object', 'an object that is no Error: the log shows what an Error carries'],
    ['text', 'text'],
    ['undefined', 'undefined'],
    ['async', 'undefined'],
    ['null', 'null'],
    ['zero', '0'],
    ['symbol', 'an object that is no Error: the log shows what an Error carries'],
    ['empty', ''],
  ]) {
    it(`is logged with its reason: ${thrown}`, async () => {
      const response = await fetch(`${annex.url}/x/floats/${thrown}`)
      await response.text()
      const { json } = await until(
        () => annex.api('GET', `/v1/logs?request=${response.headers.get('x-request-id')}`),
        (answered) => answered.json.items.length > 0,
      )
      assert.equal(json.items[0].text, `Uncaught (in promise) Error: ${why}`)
    })
  }

  for (const way of ['now', 'microtask', 'waiting', 'later']) {
    it(`is logged with the id of its request, after earlier lines: ${way}`, async () => {
      const response = await fetch(`${annex.url}/x/floats/${way}`)
      assert.equal(await response.text(), 'fine')
      const { json } = await until(
        () => annex.api('GET', `/v1/logs?request=${response.headers.get('x-request-id')}`),
        (answered) =>
          answered.json.items.some(({ text }: Json) =>
            text.startsWith(`Uncaught (in promise) Error: ${way}`),
          ),
      )
      if (way === 'now')
        assert.deepEqual(
          json.items.map(({ text }: Json) => text.split('\n')[0]),
          ['before', 'Uncaught (in promise) Error: now'],
        )
    })
  }
})

describe('a plugin folder that cannot run says where', () => {
  const entry = `import { createIntegration } from '@annex/runtime'\n`
  const end = `\nexport default createIntegration({})`
  const broken: [
    name: string,
    script: string,
    position: [string, number, number],
    message: RegExp,
    hint: RegExp,
  ][] = [
    [
      'syntax',
      `${entry}const a = {\n  b: 1,\n  c d\n}${end}`,
      ['index.ts', 4, 5],
      /Expected "}" but found "d"/,
      /^/,
    ],
    [
      'missing',
      `${entry}  import pad from 'left-pad'\npad('')${end}`,
      ['index.ts', 2, 19],
      /"left-pad" is not installed/,
      /npm install --prefix \. left-pad/,
    ],
    [
      'builtin',
      `${entry}import fs from 'node:fs'\nfs.rmSync('/')${end}`,
      ['index.ts', 2, 16],
      /"node:fs" is a module of Node/,
      /a sandbox has no files/,
    ],
    [
      'bare-builtin',
      `${entry}import { createHmac } from 'crypto'\ncreateHmac()${end}`,
      ['index.ts', 2, 28],
      /"crypto" is a module of Node/,
      /crypto\.subtle/,
    ],
    [
      'file',
      `${entry}import './nowhere.ts'${end}`,
      ['index.ts', 2, 8],
      /there is no file ".\/nowhere.ts"/,
      /^/,
    ],
    [
      'load',
      `${entry}const settings = undefined as any\nsettings.tables.push(1)${end}`,
      ['index.ts', 3, 10],
      /^the script cannot be loaded: TypeError: Cannot read properties of undefined \(reading 'tables'\)$/,
      /^/,
    ],
    [
      'load-cause',
      `${entry}throw Object.assign(new Error('no settings', { cause: new RangeError('why') }), { status: 4 })${end}`,
      ['index.ts', 2, 21],
      /^the script cannot be loaded: no settings$/,
      /^caused by: RangeError: why$/,
    ],
  ]
  let annex: Annex
  let items: Json[]
  before(async () => {
    const plugins = Object.fromEntries(broken.map(([name, script]) => [name, { script }]))
    annex = await startAnnex({ plugins })
    items = (await annex.api('POST', '/v1/reload')).json.items
  })
  after(() => annex.close())

  for (const [name, , [file, line, column], message, hint] of broken) {
    it(`${name}: ${file}:${line}:${column}`, () => {
      const { problems } = items.find(({ folder }) => folder.endsWith(`/${name}`)) ?? {}
      const [problem] = problems
      assert.match(problem.message, message)
      assert.match(problem.hint ?? '', hint)
      assert.ok(problem.file.endsWith(`${name}/${file}`), problem.file)
      assert.deepEqual([problem.line, problem.column], [line, column])
    })
  }
})
