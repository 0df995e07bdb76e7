import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPlatform, run } from '../guest.ts'

const platform = await createPlatform()

/** The name of what `act` throws, or its value. */
const caught = `const caught = (act) => { try { return act() } catch (e) { return e.name } };
  const rejected = async (promise) => { try { return await promise } catch (e) { return e.name } };`

// biome-ignore format: one case is one line
const cases: [name: string, body: string, expected: unknown][] = [
  ['options outside the standard are refused', `return [{ mode: 'x' }, { mode: 'navigate' }, { credentials: 'x' }, { cache: 'x' }, { redirect: 'x' }, { referrerPolicy: 'x' }, { priority: 'x' }, { duplex: 'full' }, { window: 1 }, { referrer: 'http://:' }, { cache: 'only-if-cached' }, { signal: {} }, 'x', 1].map((init) => caught(() => new Request('https://a/', init)))`, Array(14).fill('TypeError')],
  ['options are read back', `const r = new Request('https://a/', { mode: 'same-origin', credentials: 'omit', cache: 'no-store', integrity: 'sha256-x', keepalive: true, referrer: 'https://b/c', referrerPolicy: 'origin' }); return [r, new Request(r), r.clone()].map((r) => [r.mode, r.credentials, r.cache, r.integrity, r.keepalive, r.referrer, r.referrerPolicy].join())`, Array(3).fill('same-origin,omit,no-store,sha256-x,true,https://b/c,origin')],
  ['defaults are those of the standard', `const r = new Request('https://a/'); return [r.mode, r.credentials, r.cache, r.integrity, r.keepalive, r.referrer, r.referrerPolicy, r.redirect, r.destination, r.duplex, r.isReloadNavigation, r.body]`, ['cors', 'same-origin', 'default', '', false, 'about:client', '', 'follow', '', 'half', false, null]],
  ['a method is upper-cased, and has to be a token', `return ['patch', 'Chicken', 'a b', '', 'track'].map((method) => caught(() => new Request('https://a/', { method }).method))`, ['PATCH', 'CHICKEN', 'TypeError', 'TypeError', 'TypeError']],
  ['a missing argument is refused, and attributes belong to the interface', `return [caught(() => new Request()), Request.length, caught(() => Request.prototype.method), await rejected(Request.prototype.text.call({})), Object.keys(Request.prototype).includes('signal')]`, ['TypeError', 1, 'TypeError', 'TypeError', true]],
  ['a failed construction leaves the body of the given request', `const a = new Request('https://a/', { method: 'POST', body: 'x' }); caught(() => new Request(a, { method: 'GET' })); caught(() => new Request(a, { signal: 1 })); return [a.bodyUsed, await a.text()]`, [false, 'x']],
  ['a request in another request has a locked, empty body', `const a = new Request('https://a/', { method: 'POST', body: 'x' }); const b = new Request(a); return [a.bodyUsed, a.body.locked, await rejected(a.text()), caught(() => new Request(a)), await b.text()]`, [true, true, 'TypeError', 'TypeError', 'x']],
  ['a request as the options of another shares its body', `const a = new Request('https://a/', { method: 'PUT', body: 'x', headers: { b: '1' }, redirect: 'manual' }); const c = new Request('https://c/', a); return [c.url, c.method, c.redirect, c.headers.get('b'), a.bodyUsed, await c.text(), await rejected(a.text())]`, ['https://c/', 'PUT', 'manual', '1', false, 'x', 'TypeError']],
  ['a stream needs no "duplex", as with workers', `const body = new ReadableStream({ start(c) { c.enqueue(new Uint8Array([120])); c.close() } }); return new Request('https://a/', { method: 'POST', body }).text()`, 'x'],
  ['an asynchronous iterable is a body of bytes and texts, also inside another object', `const pieces = async function* () { yield 'ä'; yield new Uint8Array([98]) }; const make = (body) => new Request('https://a/', { method: 'POST', body }); const r = make(pieces()); return [r.headers.get('content-type'), r.body instanceof ReadableStream, await r.text(), await make({ [Symbol.asyncIterator]: pieces }).text(), await new Response(pieces()).text()]`, [null, true, 'äb', 'äb', 'äb']],
  ['an asynchronous iterable fails its body when it throws, and ends when it is cancelled', `let ended = false; const throwing = async function* () { yield 'a'; throw new RangeError('mine') }; const endless = async function* () { try { for (;;) yield 'a' } finally { ended = true } }; await new Response(endless()).body.cancel(); const r = new Response(endless()); const reader = r.body.getReader(); await reader.read(); await reader.cancel(); return [await rejected(new Response(throwing()).text()), await rejected(new Response((async function* () { yield 1 })()).text()), ended]`, ['RangeError', 'TypeError', true]],
  ['a stream goes with neither "keepalive" nor "no-cors"', `const make = (more) => caught(() => new Request('https://a/', { method: 'POST', ...more })); const bodies = [new ReadableStream(), (async function* () {})()]; return bodies.flatMap((body) => [make({ body, keepalive: true }), make({ body, mode: 'no-cors' })])`, Array(4).fill('TypeError')],
  ['a stream that was read or is locked is refused', `const locked = new ReadableStream(); locked.getReader(); const read = new ReadableStream(); await read.cancel(); return [locked, read].map((body) => caught(() => new Request('https://a/', { method: 'POST', body })))`, ['TypeError', 'TypeError']],
  ['a body stays with its Blob', `const blob = new Blob(['abc']); const r = new Request('https://a/', { method: 'POST', body: blob }); for await (const chunk of r.body) chunk.fill(0); return [await blob.text(), r.bodyUsed]`, ['abc', true]],
  ['a signal is followed through copies', `const c = new AbortController(); const r = new Request('https://a/', { signal: c.signal }); const all = [new Request(r), r.clone(), new Request('https://b/', r), new Request(r, { signal: null })]; c.abort('why'); return all.map((r) => [r.signal.aborted, r.signal.reason ?? null])`, [[true, 'why'], [true, 'why'], [true, 'why'], [false, null]]],
  ['a fetch with "integrity" fails rather than go unchecked', `return rejected(fetch('https://a/', { integrity: 'sha256-x' }))`, 'TypeError'],
  ['fetch refuses other schemes and ports of other protocols', `return Promise.all(['ftp://a/', 'file:///a', 'blob:x', 'https://a:22/', 'https://[::1]:6667/', 'http://a:10080/x?y'].map((url) => rejected(fetch(url))))`, Array(6).fill('TypeError')],
]

for (const [name, body, expected] of cases) {
  test(name, async () => assert.deepEqual(await run(platform, 'snapshot', caught + body), expected))
}
