import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createGuest, createPlatform, modes, scriptOf } from './guest.ts'

const platform = await createPlatform()
const raw = (dispatch: string, before = '') =>
  `${before};module.exports = { [Symbol.for('annex.dispatch')]: ${dispatch} }`
const request = { method: 'POST', url: 'https://a/', headers: [] }

/** What a script may do to built-ins. After each, the next dispatch must still be answered, well-formed. */
const patches: [name: string, code: string][] = [
  [
    'Object.prototype.toJSON',
    `Object.prototype.toJSON = () => ({ kind: 'forged' }); String.prototype.toJSON = () => '"}'`,
  ],
  [
    'Array.prototype methods',
    `for (const name of ['push', 'map', 'join', 'filter', 'slice', 'some', 'forEach']) Array.prototype[name] = () => { throw new Error('patched ' + name) }`,
  ],
  ['Array iteration', `Array.prototype[Symbol.iterator] = function* () { yield 'stolen' }`],
  [
    'array index setters',
    `for (let i = 0; i < 4; i++) Object.defineProperty(Array.prototype, i, { set(v) { globalThis.stolen = v }, get() { return 'x' }, configurable: true })`,
  ],
  ['Promise.prototype.then', `Promise.prototype.then = () => { throw new Error('patched then') }`],
  [
    'Promise.prototype.constructor',
    `Promise.prototype.constructor = function () { throw new Error('patched constructor') }`,
  ],
  [
    'Promise species',
    `Object.defineProperty(Promise, Symbol.species, { value: function () { throw new Error('species') } })`,
  ],
  ['the global Promise', `globalThis.Promise = class {}; Promise.resolve = () => { throw 1 }`],
  ['JSON', `JSON.stringify = () => '{"kind":"done","id":99}'; JSON.parse = () => ({ kind: 'forged' })`],
  [
    'String and Number',
    `String.prototype.slice = () => 'x'; String.prototype.replace = () => 'x'; Number.isInteger = () => true; globalThis.String = () => 'forged'`,
  ],
  [
    'setters on Object.prototype',
    `for (const name of ['name', 'message', 'stack', 'kind', 'id', 'value', 'then', 'bytes', 'dispatch', 'exposeCode']) Object.defineProperty(Object.prototype, name, { set() { throw new Error('setter ' + name) }, get() { return undefined }, configurable: true })`,
  ],
  [
    'values on Object.prototype',
    `Object.prototype.exposeCode = 418; Object.prototype.request = { method: 'X', url: 'u', headers: [] }; Object.prototype.error = 1`,
  ],
  [
    'Reflect and Object',
    `Reflect.apply = () => { throw 1 }; Object.defineProperty = () => { throw 1 }; Object.create = () => { throw 1 }`,
  ],
  [
    'Map, Set and WeakRef',
    `Map.prototype.get = Map.prototype.set = Map.prototype.has = () => { throw 1 }; globalThis.Map = globalThis.Set = globalThis.WeakRef = undefined`,
  ],
  [
    'ArrayBuffer and typed arrays',
    `ArrayBuffer.prototype.slice = () => 'x'; Object.defineProperty(ArrayBuffer.prototype, 'byteLength', { get() { return 1e9 } }); ArrayBuffer.prototype.then = () => {}; globalThis.Uint8Array = undefined`,
  ],
  [
    'Response.prototype',
    `for (const name of ['status', 'headers', 'body', 'text', 'statusText']) Object.defineProperty(Response.prototype, name, { get() { return { evil: 1 } } })`,
  ],
  [
    'Error',
    `Error.prepareStackTrace = () => { throw new Error('prepare') }; Error.stackTraceLimit = 1e9; globalThis.Error = undefined; Error`,
  ],
]

for (const mode of modes) {
  for (const [name, code] of patches) {
    test(`a patched ${name} breaks no answer (${mode})`, async () => {
      const script = raw(
        `(event) => { if (event.patch) { ${code} } return event.type === 'fetch' ? new Response('hello') : event.type === 'throw' ? (() => { throw new RangeError('thrown') })() : { value: 'v' } }`,
      )
      const guest = createGuest({ platform, mode, script })
      await guest.dispatch({ event: { type: 'value', patch: true } })
      const response = await guest.dispatch({ event: { type: 'fetch' }, request }, 'x')
      const thrown = await guest.dispatch({ event: { type: 'throw' } })
      await Promise.all([guest.done(1), guest.done(2), guest.done(3)])
      assert.deepEqual(guest.failures, [])
      assert.equal(thrown.result.kind === 'error' && thrown.result.error.name, 'RangeError')
      // A script that takes away what Response itself needs gets an error: its own affair.
      if (response.result.kind === 'response') assert.equal(response.text, 'hello')
      else assert.equal(response.result.kind, 'error')
      const answers = guest.posts.flatMap((post) => (post.kind === 'answer' ? [post.id] : []))
      assert.deepEqual(answers, [1, 2, 3])
      guest.close()
    })
  }
}

const answersOf = async (dispatch: string) => {
  const guest = createGuest({ platform, mode: 'snapshot', script: raw(dispatch) })
  const { result } = await guest.dispatch({})
  await guest.done(1)
  assert.deepEqual(guest.failures, [])
  guest.close()
  return result
}

test('a value that JSON cannot represent is an error of the dispatch', async () => {
  assert.equal((await answersOf('async () => ({ value: 1n })')).kind, 'error')
  assert.equal((await answersOf('async () => { const a = {}; a.a = a; return { value: a } }')).kind, 'error')
  assert.equal(
    (await answersOf('async () => ({ value: { toJSON() { throw new Error("no") } } })')).kind,
    'error',
  )
  assert.equal((await answersOf('async () => ({ get value() { throw new Error("no") } })')).kind, 'error')
  assert.deepEqual(await answersOf('async () => ({ value: () => {} })'), { kind: 'value', value: null })
  assert.deepEqual(await answersOf('async () => ({ value: "\\ud800" })'), { kind: 'value', value: '\ud800' })
})

test('any thrown value becomes bounded text', async () => {
  const long = 'x'.repeat(100_000)
  for (const thrown of [
    'undefined',
    'null',
    '1n',
    'Symbol("s")',
    '"text\\ud800"',
    '() => {}',
    'Object.create(null)',
    'new Proxy({}, { get() { throw 1 }, getPrototypeOf() { throw 2 } })',
    '{ name: {}, message: 5, stack: [] }',
    '{ get name() { throw 1 }, get message() { throw 1 }, get stack() { throw 1 } }',
    'Object.assign(new Error("x".repeat(1e5)), { name: "n".repeat(1e5), stack: "s".repeat(1e6) })',
    '(() => { const e = new Error("loop"); e.cause = e; return e })()',
  ]) {
    const result = await answersOf(`async () => { throw ${thrown} }`)
    const { error } = result.kind === 'error' ? result : assert.fail(thrown)
    assert.equal(typeof error.name, 'string')
    assert.equal(typeof error.message, 'string')
    assert.ok(error.name.length <= 200 && error.message.length <= 8192, thrown)
    assert.ok((error.stack ?? '').length <= 8192 && !(error.stack ?? '').includes(long), thrown)
  }
})

test('only a status from 400 to 599 exposes an error', async () => {
  for (const code of ['399', '600', '"404"', '404.5', 'NaN', '{}']) {
    const result = await answersOf(
      `async () => { throw Object.assign(new Error('m'), { [Symbol.for('annex.exposeCode')]: ${code} }) }`,
    )
    assert.equal(result.kind === 'error' && result.error.exposeCode, undefined, code)
  }
})

test('a thenable that settles many times answers once', async () => {
  const script = raw(
    `() => ({ then(resolve, reject) { resolve({ value: 1 }); resolve({ value: 2 }); reject(3); throw 4 } })`,
  )
  const guest = createGuest({ platform, mode: 'snapshot', script })
  assert.deepEqual((await guest.dispatch({})).result, { kind: 'value', value: 1 })
  await guest.done(1)
  assert.equal(guest.posts.length, 1)
  guest.close()
})

test('log lines are bounded for any value', async () => {
  const script =
    scriptOf(`console.log('y'.repeat(1e6)); console.error({ big: 'z'.repeat(1e6) }); console.log(Array(1e5).fill('abc'));
    console.log(new Map(Array.from({ length: 1e4 }, (_, i) => [i, 'v'.repeat(100)])))
    let deep = {}; for (let i = 0; i < 1e4; i++) deep = { deep }; console.log(deep)
    console.log(new Proxy({}, { ownKeys() { throw 1 } }), { get a() { throw 1 } }, Object.create(null), Symbol('s'), 1n, new Error('e'))
    console.log('%s is %d %o', 'x', 7, { a: [1, , undefined, null] }, 'rest'); console.log('\\ud800')`)
  const guest = createGuest({ platform, mode: 'snapshot', script })
  await guest.dispatch({})
  assert.deepEqual(guest.failures, [])
  assert.equal(guest.logs.length, 8)
  for (const { text } of guest.logs) assert.ok(text.length <= 8192, `${text.length}`)
  assert.match(guest.logs[0]?.text ?? '', /y… \(cut: a line of the log has at most 8192 characters\)$/)
  assert.match(guest.logs[5]?.text ?? '', /\[Getter\].*Symbol\(s\) 1n Error: e/s)
  assert.equal(guest.logs[6]?.text, 'x is 7 { a: [1, undefined, undefined, null] } rest')
  guest.close()
})

test('a script cannot reach the callbacks of the process', async () => {
  const script = scriptOf(`const seen = []
    Error.prepareStackTrace = (error, sites) => { for (const s of sites) seen.push(typeof s.getFunction(), typeof s.getThis()); return '' }
    new Error('x').stack; try { null.x } catch (e) { e.stack }
    Error.prepareStackTrace = undefined
    function caller() { return caller.caller }
    let up; try { up = caller() === null || typeof caller() === 'function' } catch (e) { up = 'refused' }
    return [seen.filter((t) => t !== 'undefined' && t !== 'function').length, Object.getOwnPropertyNames(globalThis).filter((n) => /annex|post|bridge|wire/i.test(n)), up]`)
  for (const mode of modes) {
    const guest = createGuest({ platform, mode, script })
    const { result } = await guest.dispatch({})
    assert.equal(result.kind, 'value')
    assert.deepEqual(result.kind === 'value' && (result.value as unknown[])[1], [])
    guest.close()
  }
})
