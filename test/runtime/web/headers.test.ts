import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPlatform, run } from '../guest.ts'

const platform = await createPlatform()

/** The name of what `act` throws, or its value. */
const caught = `const caught = (act) => { try { return act() } catch (e) { return e.name } };
  const rejected = async (promise) => { try { return await promise } catch (e) { return e.name } };`

// biome-ignore format: one case is one line
const cases: [name: string, body: string, expected: unknown][] = [
  ['a pair without exactly two items is refused', `return [caught(() => new Headers([['a']])), caught(() => new Headers([['a', 'b', 'c']])), caught(() => new Headers(['ab'])), caught(() => new Headers([{ length: 2, 0: 'a', 1: 'b' }]))]`, Array(4).fill('TypeError')],
  ['null, texts and numbers are refused as headers', `return [null, 'a', 1, false].map((init) => caught(() => new Headers(init)))`, Array(4).fill('TypeError')],
  ['a symbol as a name is refused', `return caught(() => new Headers({ [Symbol('s')]: '1' }))`, 'TypeError'],
  ['operations without their arguments are refused', `const h = new Headers(); return [() => h.append('a'), () => h.set('a'), () => h.get(), () => h.has(), () => h.delete(), () => h.forEach()].map(caught)`, Array(6).fill('TypeError')],
  ['lengths match the standard', `return [Headers, Headers.prototype.append, Headers.prototype.get, Headers.prototype.forEach, Headers.prototype.entries].map((f) => f.length)`, [0, 2, 1, 1, 0]],
  ['values lose outer whitespace only', `return new Headers({ a: ' \\t\\r\\n x \\t y \\n' }).get('a')`, 'x \t y'],
  ['NUL, CR and LF inside of a value are refused', `return ['a\\0b', 'a\\rb', 'a\\nb'].map((v) => caught(() => new Headers({ a: v })))`, Array(3).fill('TypeError')],
  ['iteration is sorted, combined, and keeps cookies apart', `const h = new Headers([['b', '2'], ['set-cookie', 'x'], ['a', '1'], ['B', '3'], ['Set-Cookie', 'y']]); return [[...h], [...h.keys()], [...h.values()], h.get('set-cookie'), h.getSetCookie()]`, [[['a', '1'], ['b', '2, 3'], ['set-cookie', 'x'], ['set-cookie', 'y']], ['a', 'b', 'set-cookie', 'set-cookie'], ['1', '2, 3', 'x', 'y'], 'x, y', ['x', 'y']]],
  ['iterators are live, and have the prototype of iterators', `const h = new Headers({ b: '1' }); const i = h.entries(); const first = i.next().value; h.append('c', '2'); const second = i.next().value; const p = Object.getPrototypeOf(i); return [first, second, i.next().done, Object.prototype.toString.call(i), Object.keys(p), Object.getPrototypeOf(p) === Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]()))]`, [['b', '1'], ['c', '2'], true, '[object Headers Iterator]', ['next'], true]],
  ['a change of a pair does not change the headers', `const h = new Headers({ a: '1' }); for (const pair of h) pair[1] = 'x'; return [...h]`, [['a', '1']]],
  ['forEach sees added headers', `const h = new Headers({ a: '1' }); const seen = []; h.forEach((value, name, all) => { seen.push(name, value, all === h); if (name === 'a') h.set('b', '2') }); return seen`, ['a', '1', true, 'b', '2', true]],
  ['headers with their own iterator are read by it', `const h = new Headers({ a: '1' }); h[Symbol.iterator] = function* () { yield ['x', '2'] }; return [...new Headers(h)]`, [['x', '2']]],
  ['the guard of a fetched response and of its clone is kept', `const r = Response.redirect('https://a/'); return [r, r.clone()].map((one) => caught(() => one.headers.set('a', 'b')))`, ['TypeError', 'TypeError']],
  ['headers that a page may not send are allowed', `const h = new Request('https://a/', { headers: { cookie: 'a=1', host: 'x', date: 'y', 'sec-fetch-mode': 'z' } }).headers; return [...h.keys()]`, ['cookie', 'date', 'host', 'sec-fetch-mode']],
  ['the mode "no-cors" has the guard of the standard', `const h = new Request('https://a/', { mode: 'no-cors', headers: { accept: 'a/b', authorization: 'x', 'content-type': 'text/html' } }).headers; h.set('x-a', '1'); h.append('accept', '<'); return [...h]`, [['accept', 'a/b']]],
]

for (const [name, body, expected] of cases) {
  test(name, async () => assert.deepEqual(await run(platform, 'snapshot', caught + body), expected))
}
