// Each case is one line, so that it reads as a table.
// biome-ignore-all format: a case to a line
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createGuest, createPlatform, modes, run, scriptOf } from '../runtime/guest.ts'

const platform = await createPlatform()

const kinds = ['function () {}', 'async () => {}', 'function* () {}', 'async function* () {}', 'class {}', '{ m() {} }.m', '{ async m() {} }.m', '{ *m() {} }.m', 'Math.max', 'Date', 'Response', 'console.log', 'fetch']

/** Ways to a constructor of functions, given one function `f`. */
const ways: [name: string, make: string][] = [
  ['call', `C('return 1')`],
  ['new', `new C('return 1')`],
  ['several arguments', `C('a', 'b', 'return a + b')`],
  ['Reflect.apply', `Reflect.apply(C, null, ['return 1'])`],
  ['Reflect.construct', `Reflect.construct(C, ['return 1'])`],
  ['Reflect.construct for another', `Reflect.construct(C, ['return 1'], Array)`],
  ['Reflect.construct of another for it', `(() => { const x = Reflect.construct(Object, ['return 1'], C); if (typeof x !== 'function') throw new EvalError('no function') })()`],
  ['bind', `C.bind(null, 'return 1')()`],
  ['new of a bound one', `new (C.bind(null, 'return 1'))()`],
  ['class extends', `new (class extends C {})('return 1')`],
  ['class extends, and super with text', `new (class extends C { constructor() { super('return 1') } })()`],
  ['its proxy', `new (new Proxy(C, {}))('return 1')`],
  ['Symbol.species', `C[Symbol.species]('return 1')`],
  ['its own constructor', `C.constructor('return 1')`],
  ['the constructor of its prototype', `C.prototype.constructor('return 1')`],
  ['its parent', `Object.getPrototypeOf(C)('return 1')`],
  ['the constructor of its parent', `Object.getPrototypeOf(C).constructor('return 1')`],
  ['the parent of its parent', `Object.getPrototypeOf(Object.getPrototypeOf(C))('return 1')`],
  ['its descriptor', `Object.getOwnPropertyDescriptor(Object.getPrototypeOf(f), 'constructor').value('return 1')`],
  ['the old way to a prototype', `f.__proto__.constructor('return 1')`],
  ['call of call', `Function.prototype.call.call(C, null, 'return 1')`],
  ['apply through an array method', `['return 1'].map(C)`],
  ['a then callback', `await Promise.resolve('return 1').then(C)`],
  ['a replacer', `'return 1'.replace(/.+/, C)`],
  ['a tagged template', 'C`return 1`'],
  ['a sort comparator', `['return 1', 'return 2'].sort(C)`],
  ['toString', `({ toString: C }) + ''`],
  ['Array.from', `Array.from(['return 1'], C)`],
  ['Array.from with it as the constructor', `Array.from.call(C, 'return 1')`],
  ['Array.of with it as the constructor', `Array.of.call(C, 'return 1')`],
  ['a species that a promise makes', `Promise.prototype.then.call(Object.assign(Promise.resolve(1), { constructor: { [Symbol.species]: C } }), () => {})`],
  ['Promise.resolve with it as the constructor', `Promise.resolve.call(C, 'return 1')`],
]

const others: [name: string, body: string][] = [
  ['eval', `eval('1')`],
  ['indirect eval', `(0, eval)('1')`],
  ['globalThis.eval', `globalThis.eval('1')`],
  ['eval from Reflect', `Reflect.get(globalThis, 'eval')('1')`],
  ['setTimeout with a text', `setTimeout('globalThis.ran = 1', 0); await new Promise((r) => setTimeout(r, 20)); if (globalThis.ran === undefined) throw new EvalError('not run')`],
  ['setTimeout with an object that is a text', `setTimeout({ toString: () => 'globalThis.ran = 1' }, 0)`],
  ['setInterval with a text', `setInterval('globalThis.ran = 1', 0)`],
  ['queueMicrotask with a text', `queueMicrotask('globalThis.ran = 1')`],
  ['import()', `await import('data:text/javascript,export default 1')`],
  ['import() of a file', `await import('/etc/passwd')`],
  ['import() of a Node module', `await import('node:fs')`],
  ['require', `require('fs')`],
  ['ShadowRealm', `new ShadowRealm().evaluate('1')`],
  ['Worker', `new Worker('data:text/javascript,1')`],
  ['importScripts', `importScripts('data:text/javascript,1')`],
  ['WebAssembly', `new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]))`],
  ['WebAssembly.Memory', `new WebAssembly.Memory({ initial: 1, maximum: 2, shared: true }).buffer`],
  ['SharedArrayBuffer', `new SharedArrayBuffer(1)`],
  ['a constructor that a buffer leads to', `if (!(new Uint8Array(1).buffer.constructor === ArrayBuffer)) return; throw new EvalError('not shared')`],
  ['Atomics', `Atomics.wait`],
]

// A script can only be stopped by an error of these names: anything that comes back is code, or nothing at all.
const refusals = new Set(['EvalError', 'TypeError', 'ReferenceError'])

for (const mode of modes) {
  describe(`code made from text, from ${mode === 'snapshot' ? 'a startup snapshot' : 'evaluated code'}`, () => {
    for (const kind of kinds) {
      test(`the constructors behind ${kind} make no code, in ${ways.length} ways`, async () => {
        const body = `const f = ${kind.startsWith('{') ? `(${kind.replace(/\}\.m$/, '})')}.m` : `(${kind})`}; const C = f.constructor; const seen = {}
          ${ways.map(([name, make]) => `try { const made = ${make}; seen[${JSON.stringify(name)}] = typeof made === 'function' ? 'CODE' : 'value ' + String(made) } catch (e) { seen[${JSON.stringify(name)}] = e.name }`).join('\n')}
          return seen`
        const seen = (await run(platform, mode, body)) as Record<string, string>
        assert.equal(Object.keys(seen).length, ways.length)
        for (const [name, outcome] of Object.entries(seen)) {
          // Function.prototype itself is a function, and gives undefined whatever it is called with.
          assert.ok(refusals.has(outcome) || outcome === 'value undefined', `${name}: ${outcome}`)
        }
      })
    }

    for (const [name, body] of others) {
      test(`${name} runs no code`, async () => {
        const seen = await run(platform, mode, `try { ${body}; return 'RAN' } catch (e) { return e.name + ': ' + e.message + ' ' + globalThis.ran }`)
        assert.match(String(seen), /^(EvalError|TypeError|ReferenceError|Error: Not supported).* undefined$/)
      })
    }

    test('an operator can allow eval and the four constructors, but no shared memory', async () => {
      const body = `const A = (async () => {}).constructor, G = (function* () {}).constructor, H = (async function* () {}).constructor
        return [eval('1 + 1'), (0, eval)('typeof globalThis'), Function('return 3')(), await A('return 4')(), G('yield 5')().next().value, (await H('yield 6')().next()).value, typeof SharedArrayBuffer, typeof Atomics, typeof WebAssembly]`
      const guest = createGuest({ platform, mode, script: scriptOf(body), allowEval: true })
      const { result } = await guest.dispatch({})
      assert.deepEqual(result, { kind: 'value', value: [2, 'object', 3, 4, 5, 6, 'undefined', 'undefined', 'undefined'] })
      guest.close()
    })

    test('a constructor that makes no code keeps its name, length and prototype', async () => {
      const body = `const F = Function; class X { static m() {} }
        return [F.name, F.length, typeof F, (() => {}) instanceof F, F.prototype === Object.getPrototypeOf(() => {}), (() => {}).constructor === F, X.m.constructor === F, Object.getPrototypeOf((async () => {}).constructor) === F, (function* () {}).constructor.name]`
      assert.deepEqual(await run(platform, mode, body), ['Function', 1, 'function', true, true, true, true, true, 'GeneratorFunction'])
    })
  })
}
