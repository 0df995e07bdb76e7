import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createGuest, createPlatform, type Mode, modes, type Serve, scriptOf } from '../runtime/guest.ts'

const platform = await createPlatform()

const serve: Serve = {
  refused: () => {
    throw Object.assign(new TypeError('no'), { path: '/etc', cause: new Error('secret'), __proto__: null })
  },
  fetch: () => {
    throw new Error('fetch failed')
  },
  polluted: () => ({
    value: JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'),
  }),
}

const seenBy = async (mode: Mode, body: string): Promise<unknown> => {
  const guest = createGuest({ platform, mode, script: scriptOf(body), serve })
  try {
    const { result } = await guest.dispatch({
      request: { method: 'POST', url: 'https://a/', headers: [['x', 'y']] },
      event: JSON.parse('{"type":"x","__proto__":{"polluted":1}}'),
      environment: JSON.parse('{"__proto__":{"polluted":1},"toString":1}'),
    })
    if (result.kind !== 'error') return assert.fail('a fetch handler that answers no Response')
    return JSON.parse(result.error.message)
  } finally {
    guest.close()
  }
}

/** Answers through an error: the only text that a dispatch with a request gives back as it is. */
const saying = (body: string): string =>
  `throw new Error(JSON.stringify(await (async () => {\n${body}\n})()))`

/** Every value that a script is given, and the errors that the platform gives it, before anything is looked at. */
const gather = `
  const roots = [globalThis, event, environment, request, host, arguments]
  const attempts = [
    () => host.call('refused', {}), () => host.call('refused', { toJSON() { throw new RangeError('own') } }), () => host.call('polluted', {}),
    () => fetch('https://nowhere.invalid/'), () => fetch('nope'), () => crypto.subtle.digest('nope', new Uint8Array(1)),
    () => crypto.subtle.generateKey({ name: 'HMAC', hash: 'SHA-256' }, true, ['sign']), () => crypto.getRandomValues(new Uint8Array(4)),
    () => crypto.getRandomValues(new Uint8Array(70000)), () => new Response('x').body.getReader().read(), () => new Request('https://a/').signal,
    () => setTimeout(() => {}, 1), () => structuredClone({ a: new Map() }), () => structuredClone(() => {}), () => new TransformStream(),
    () => host.waitUntil(Promise.resolve()), () => performance.toJSON(), () => { const f = () => f(); f() }, () => AbortSignal.abort().reason,
  ]
  for (const attempt of attempts) try { roots.push(await attempt()) } catch (error) { roots.push(error) }
`

const walk = `
  const sites = []
  Error.prepareStackTrace = (error, all) => { sites.push(...all); return '' }
  new Error('a').stack; try { null.x } catch (error) { error.stack }
  await new Promise((resolve) => setTimeout(() => { new Error('b').stack; resolve() }, 1))
  try { await host.call('refused', { toJSON() { new Error('c').stack; return {} } }) } catch (error) { error.stack }
  console.log({ get a() { return new Error('d').stack } })
  Error.prepareStackTrace = undefined
  const paths = new Map(), queue = []
  const look = (value, path) => {
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null || paths.has(value)) return
    paths.set(value, path); queue.push(value)
  }
  roots.forEach((root, i) => look(root, 'root ' + i))
  for (const site of sites) { look(site, 'site'); look(site.getThis(), 'this'); look(site.getFunction(), 'function') }
  while (queue.length > 0 && paths.size < 20000) {
    const value = queue.shift(), path = paths.get(value)
    for (const key of Reflect.ownKeys(value)) {
      const { value: held, get, set } = Reflect.getOwnPropertyDescriptor(value, key)
      const at = path + '.' + String(key)
      look(held, at); look(get, at); look(set, at)
      if (get) try { look(Reflect.get(value, key), at) } catch (error) { look(error, at + '!') }
    }
    look(Reflect.getPrototypeOf(value), path + '.__proto__')
  }
`

describe('every value that a script can reach', () => {
  for (const mode of modes) {
    test(`belongs to its own isolate, not to isolated-vm or the process (${mode})`, async () => {
      const seen = (await seenBy(
        mode,
        saying(`${gather}${walk}
        const last = (value) => { for (;;) { const next = Reflect.getPrototypeOf(value); if (next === null) return value; value = next } }
        const foreign = [...paths].filter(([value, path]) => last(value) !== Object.prototype && !/unscopables|environment|root [12]/.test(path)).map(([, path]) => path)
        const names = /^(applySync|applyIgnored|derefInto|copyInto|createContext|evalSync|compileScript|receive|postToProcess|onPost|connect|define|fire)$/
        const named = [...paths].filter(([value, path]) => typeof value === 'function' && names.test(value.name)).map(([, path]) => path)
        const makers = [...paths.keys()].filter((value) => { try { return /^(Reference|ExternalCopy|Callback|Isolate|Context|Script|Module)$/.test(value.constructor.name) } catch { return false } }).length
        return { count: paths.size, foreign, named, makers, sites: sites.length, files: [...new Set(sites.map((s) => String(s.getFileName() ?? s.getEvalOrigin?.())))] }`),
      )) as Record<string, unknown>
      const { count, sites, files, ...rest } = seen
      assert.deepEqual(rest, { foreign: [], named: [], makers: 0 })
      assert.ok(Number(count) > 1_000 && Number(count) < 20_000, `${count} values`)
      assert.ok(Number(sites) > 5)
      for (const file of files as string[]) assert.match(file, /^(annex:(script|_platform)|null|undefined)$/)
    })

    test(`shows errors of the host as plain errors, without path, cause or extra fields (${mode})`, async () => {
      const seen = await seenBy(
        mode,
        saying(`const error = await host.call('refused', {}).catch((error) => error)
        return [error.constructor === Error, Object.getPrototypeOf(error) === Error.prototype, Reflect.ownKeys(error).sort(), error.message, 'cause' in error, /\\/(work|home|usr|root|etc|tmp)\\/|file:|node:|isolated-vm|guest\\.ts/.test(error.stack)]`),
      )
      assert.deepEqual(seen, [true, true, ['message', 'stack'], 'no', false, false])
    })

    test(`treats "__proto__" from outside as a plain key (${mode})`, async () => {
      const seen = await seenBy(
        mode,
        saying(`const answer = await host.call('polluted', {})
        return [({}).polluted, Object.getPrototypeOf(event) === Object.prototype, Object.getPrototypeOf(environment()) === Object.prototype, environment().polluted, Object.getPrototypeOf(answer) === Object.prototype, event.polluted, answer.polluted, structuredClone(answer).polluted, Object.getPrototypeOf({ ...answer }) === Object.prototype]`),
      )
      assert.deepEqual(seen, [null, true, true, null, true, null, null, null, true])
    })
  }
})

/**
 * Replaces every built-in by one that tells what it was called with, then uses the whole platform: the platform's own
 * code is what runs through them.
 */
const record = `
  const apply = Reflect.apply, ownKeys = Reflect.ownKeys, describe = Reflect.getOwnPropertyDescriptor, define = Reflect.defineProperty, NativeSet = Set
  const has = NativeSet.prototype.has, add = NativeSet.prototype.add
  const taken = new NativeSet()
  let on = false
  const take = (value) => { if ((typeof value === 'object' || typeof value === 'function') && value !== null) apply(add, taken, [value]) }
  const holders = [Object, Array, Function.prototype, Object.prototype, Array.prototype, String.prototype, RegExp.prototype, Map.prototype, Set.prototype, WeakMap.prototype, WeakSet.prototype, Promise, Promise.prototype, ArrayBuffer.prototype, Uint8Array.prototype, Object.getPrototypeOf(Uint8Array.prototype), DataView.prototype, Number, Number.prototype, Date.prototype, JSON, Reflect, Symbol.prototype, Object.getPrototypeOf([][Symbol.iterator]()), Object.getPrototypeOf(new Map()[Symbol.iterator]()), Error, Error.prototype, Math, BigInt]
  for (const holder of holders) for (const key of ownKeys(holder)) {
    const own = describe(holder, key)
    if (key === 'constructor' || typeof own.value !== 'function' || !own.configurable || own.value.prototype !== undefined) continue
    const native = own.value
    define(holder, key, { ...own, value: function (...given) { if (on) { on = false; take(this); for (let i = 0; i < given.length; i++) take(given[i]); on = true } return apply(native, this, given) } })
  }
  for (const key of ['message', 'result', 'callback', 'settled', 'post', 'ask', 'wire', 'calls', 'dispatch', 'request', 'body', 'then', '0', '1', 'length', 'kind', 'name', 'signal', 'ok', 'bytes', 'error', 'given', 'waiting'])
    define(Object.prototype, key, { __proto__: null, configurable: true, get() { if (on) take(this); return undefined }, set(value) { if (on) { take(this); take(value) } define(this, key, { __proto__: null, value, writable: true, enumerable: true, configurable: true }) } })
  on = true
`

const useAll = `
  const quiet = async (act) => { try { return await act() } catch {} }
  await quiet(() => fetch('https://nowhere.invalid/', { method: 'POST', body: 'x', headers: { a: 'b' }, signal: AbortSignal.timeout(50) }))
  await quiet(() => host.call('refused', { a: [1] }))
  await quiet(async () => { const f = new FormData(); f.append('a', new File(['x'], 'n')); return new Response(f).formData() })
  await quiet(() => new Response(new ReadableStream({ start(c) { c.enqueue(new Uint8Array(1)); c.close() } })).clone().text())
  await quiet(() => new Request('https://a/?b=c#d', { method: 'POST', body: new URLSearchParams({ a: 'b' }) }).formData())
  await quiet(() => crypto.subtle.digest('SHA-256', new Uint8Array(4)))
  await quiet(() => crypto.subtle.generateKey({ name: 'HMAC', hash: 'SHA-256' }, true, ['sign']))
  await quiet(() => structuredClone(new Map([[{ a: 1 }, new Set([new Date(), /x/, new Error('e')])]])))
  await quiet(() => new Promise((resolve) => setTimeout(resolve, 2)))
  await quiet(() => { const t = new EventTarget(); t.addEventListener('x', () => {}); t.dispatchEvent(new CustomEvent('x')) })
  await quiet(() => new Blob(['a', new Blob(['b'])]).stream().pipeThrough(new TextDecoderStream()).getReader().read())
  await quiet(() => { console.log('%s', { a: 1 }, new Map([[1, 2]])); console.time('x'); console.timeEnd('x'); console.table([1]) })
  await quiet(() => [crypto.randomUUID(), crypto.getRandomValues(new Uint8Array(4)), new Headers([['a', 'b']]), atob(btoa('x')), new TextDecoder().decode(new TextEncoder().encode('x'))])
  await quiet(() => { host.waitUntil(Promise.reject(new Error('w'))); queueMicrotask(() => {}); performance.now(); Date(); Temporal.Now.instant() })
  on = false
`

describe('a script that has replaced every built-in', () => {
  for (const mode of modes) {
    test(`sees no function of the wall in the calls of the platform’s code (${mode})`, async () => {
      const script = `module.exports = { [Symbol.for('annex.dispatch')]: async (event, environment, request, host) => {
        if (event.type === 'next') return { value: 'next' }
        ${record}${useAll}
        const names = ['post', 'ask', 'connect', 'receive', 'define', 'settle', 'fire', 'use', 'run', 'enter']
        const wall = []; let count = 0
        taken.forEach((value) => { count++
          if (typeof value === 'function' && /annexBoot|postToProcess|isolated/.test(Function.prototype.toString.call(value))) wall.push(String(value).slice(0, 80))
          const own = names.filter((name) => { const d = describe(value, name); return d !== undefined && typeof d.value === 'function' && value !== Reflect && value !== globalThis })
          if (own.length > 1) wall.push(own.join())
        })
        return { value: { wall, count } }
      } }`
      const guest = createGuest({ platform, mode, script, serve })
      const { result } = await guest.dispatch({})
      const { wall, count } = (
        result.kind === 'value' ? result.value : assert.fail(JSON.stringify(result))
      ) as {
        wall: string[]
        count: number
      }
      assert.deepEqual(wall, [])
      assert.ok(count > 50, `only ${count} values were seen: the recorder does not work`)
      assert.deepEqual((await guest.dispatch({ event: { type: 'next' } })).result, {
        kind: 'value',
        value: 'next',
      })
      guest.close()
    })

    test(`gets its next dispatch answered when every built-in throws (${mode})`, async () => {
      const script = `module.exports = { [Symbol.for('annex.dispatch')]: (event) => {
        if (event.type === 'next') return { value: 'next' }
        const { ownKeys, getOwnPropertyDescriptor, defineProperty } = Reflect
        const refuse = () => { throw 'broken' }
        const names = ownKeys(globalThis), holders = []
        for (let i = 0; i < names.length; i++) { const made = globalThis[names[i]]; holders[2 * i] = made; holders[2 * i + 1] = made?.prototype }
        for (let i = 0; i < holders.length; i++) { const holder = holders[i]
          if ((typeof holder !== 'object' && typeof holder !== 'function') || holder === null || holder === globalThis) continue
          const keys = ownKeys(holder)
          for (let k = 0; k < keys.length; k++) { const own = getOwnPropertyDescriptor(holder, keys[k])
            if (typeof own.value === 'function' && own.configurable) defineProperty(holder, keys[k], { __proto__: null, value: refuse }) } }
        return { value: 'first' }
      } }`
      const guest = createGuest({ platform, mode, script })
      for (const type of ['first', 'next', 'next']) {
        assert.deepEqual((await guest.dispatch({ event: { type } })).result, { kind: 'value', value: type })
      }
      assert.deepEqual(guest.failures, [])
      guest.close()
    })
  }
})
