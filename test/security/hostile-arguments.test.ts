import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createGuest, createPlatform, modes, scriptOf } from '../runtime/guest.ts'

const platform = await createPlatform()

/** Values that throw, lie or change when the platform reads them. */
const values = `
  const throwing = (what) => () => { throw what }
  const traps = Object.fromEntries(Reflect.ownKeys(Reflect).filter((k) => typeof k === 'string').map((k) => [k, throwing(k)]))
  const revoked = () => { const { proxy, revoke } = Proxy.revocable(function () {}, {}); revoke(); return proxy }
  const detached = () => { const b = new ArrayBuffer(8); const v = new Uint8Array(b); b.transfer(); return v }
  const cyclic = []; cyclic.push(cyclic, { cyclic })
  let flips = 0
  const hostile = [
    undefined, null, NaN, -0, -1, 2 ** 53, 1n, '', '\\ud800', '"}\\n\\0', '__proto__', Symbol('s'), Symbol.iterator, () => {}, class {}, cyclic,
    new Proxy({}, traps), new Proxy(function () {}, traps), new Proxy([], { get(t, k) { return k === 'length' ? 2 ** 32 : '"' } }), revoked(), detached(),
    { toString: throwing('toString') }, { valueOf: throwing('valueOf') }, { [Symbol.toPrimitive]: () => ({}) }, { toString: () => ['a', 'https://a/', '"'][flips++ % 3] },
    { toJSON() { return '"},{"kind":"done","id":1}' } }, { toJSON: throwing('toJSON') }, { then(f) { f(1); f(2); throw 3 } }, { then: throwing('then') }, { get then() { throw 'get then' } },
    { [Symbol.iterator]() { return { next: () => ({ done: flips++ % 50 === 0, value: ['a', 'b'] }) } } }, { *[Symbol.iterator]() { yield 1; throw 2 } }, { [Symbol.asyncIterator]: throwing('async') },
    Object.defineProperty([1], 'constructor', { value: { [Symbol.species]: throwing('species') } }), Object.create(null), Object.create({ get method() { throw 'm' } }), JSON.rawJSON('"x"'),
    { get url() { throw 1 }, get headers() { throw 2 }, get signal() { throw 3 }, get body() { throw 4 }, get name() { throw 5 } }, new (class extends Response {})(), Object.create(Response.prototype), Object.create(Request.prototype), Object.create(Promise.prototype),
    new (class extends Promise { static get [Symbol.species]() { throw 'species' } })(() => {}), new (class extends Uint8Array { get byteLength() { return 1e9 } })(4), new ArrayBuffer(4, { maxByteLength: 8 }), globalThis, Math.max, new Date(NaN), /x/,
  ]
`

/** Every function of the platform, on every prototype, with each of the values as arguments and as \`this\`. */
const callAll = `
  const language = new Set(['Object','Function','Array','Number','Boolean','String','Symbol','Date','Promise','RegExp','Error','AggregateError','EvalError','RangeError','ReferenceError','SyntaxError','TypeError','URIError','JSON','Math','Intl','Reflect','Proxy','Map','Set','WeakMap','WeakSet','WeakRef','FinalizationRegistry','BigInt','Iterator','Temporal','ArrayBuffer','DataView','globalThis','self','setInterval'])
  const typed = /Array$|^Suppressed|DisposableStack$/
  let calls = 0
  const quiet = (result) => { try { if (result instanceof Promise) Promise.prototype.then.call(result, () => {}, () => {}) } catch {} }
  const attempt = (act) => { calls++; try { quiet(act()) } catch {} }
  const tryAll = (f, self) => {
    for (let i = 0; i < hostile.length; i++) {
      const a = hostile[i], b = hostile[(i * 7 + 3) % hostile.length]
      attempt(() => Reflect.apply(f, self, [a, b])); attempt(() => Reflect.apply(f, a, [b])); attempt(() => Reflect.construct(f, [a, b]))
    }
  }
  const samples = { Headers: () => new Headers(), Response: () => new Response('x'), Request: () => new Request('https://a/'), FormData: () => new FormData(), Blob: () => new Blob(['x']), File: () => new File([], 'f'), URL: () => new URL('https://a/'), URLSearchParams: () => new URLSearchParams('a=b'), TextDecoder: () => new TextDecoder(), EventTarget: () => new EventTarget(), AbortController: () => new AbortController(), ReadableStream: () => new ReadableStream(), WritableStream: () => new WritableStream(), TransformStream: () => new TransformStream() }
  for (const name of Reflect.ownKeys(globalThis)) {
    if (typeof name !== 'string' || language.has(name) || typed.test(name)) continue
    const made = globalThis[name]
    if (typeof made !== 'function' && typeof made !== 'object') continue
    if (typeof made === 'function') tryAll(made, undefined)
    for (const holder of [made, made?.prototype, name === 'crypto' ? made.subtle : undefined]) {
      if (holder === undefined || holder === null) continue
      for (const key of Reflect.ownKeys(holder)) {
        const { value, get, set } = Reflect.getOwnPropertyDescriptor(holder, key)
        if (key === 'constructor') continue
        const self = holder === made?.prototype && samples[name] ? samples[name]() : holder
        for (const f of [value, get, set]) if (typeof f === 'function') tryAll(f, self)
      }
    }
  }
  for (const value of hostile) { attempt(() => host.call(value, value)); attempt(() => host.call('x', value)); attempt(() => host.waitUntil(value)) }
`

describe('hostile arguments for every function of the platform', () => {
  for (const mode of modes) {
    test(`send no invalid JSON, and the next dispatch is answered (${mode})`, async () => {
      const body = `if (event.type === 'next') return 'next'\n${values}${callAll}\nreturn calls`
      const guest = createGuest({ platform, mode, script: scriptOf(body) })
      const { result } = await guest.dispatch({})
      assert.ok(result.kind === 'value' && Number(result.value) > 20_000, JSON.stringify(result))
      const next = await guest.dispatch({ event: { type: 'next' } })
      assert.deepEqual(next.result, { kind: 'value', value: 'next' })
      // What is left are promises of the script that it has not looked at.
      for (const failure of guest.failures) {
        assert.doesNotMatch(`${failure?.name}`, /SyntaxError/)
        assert.doesNotMatch(`${failure?.message}`, /timed out|JSON/)
      }
      const answers = guest.posts
        .filter(({ kind }) => kind === 'answer')
        .map((post) => (post as { id: number }).id)
      assert.deepEqual(answers, [1, 2])
      guest.close()
    })
  }
})
