// Each case is one line, so that it reads as a table.
// biome-ignore-all format: a case to a line
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createPlatform, modes, run } from './guest.ts'

const platform = await createPlatform()

/** What a script does, and what it must see. Each runs in an isolate of its own, made in both ways. */
const cases: [name: string, body: string, expected: unknown][] = [
  // URL
  ['URL resolves against a base', `return new URL('../b?x=1#h', 'https://example.com/a/c/').href`, 'https://example.com/a/b?x=1#h'],
  ['URL has toJSON', `return JSON.stringify({ u: new URL('https://example.com') })`, '{"u":"https://example.com/"}'],
  ['URL turns international names into punycode', `return new URL('https://bücher.example/ä').href`, 'https://xn--bcher-kva.example/%C3%A4'],
  ['URL.canParse and URL.parse', `return [URL.canParse('nope'), URL.parse('nope'), URL.parse('https://a').href]`, [false, null, 'https://a/']],
  ['URLSearchParams keeps repeats in order', `const p = new URLSearchParams('a=1&b=2&a=3'); p.append('c', ' ä'); return [p.getAll('a'), p.toString(), p.size]`, [['1', '3'], 'a=1&b=2&a=3&c=+%C3%A4', 4]],
  ['URLSearchParams is tied to its URL', `const u = new URL('https://a/?x=1'); u.searchParams.set('x', '2'); return u.href`, 'https://a/?x=2'],
  // WebSocket
  ['WebSocket exists for packages that check it, and its constructor names the alternative', `let text; try { new WebSocket('wss://a/') } catch (e) { text = [e.name, e.message] } return [typeof WebSocket, WebSocket.OPEN, WebSocket.prototype.CLOSED, WebSocket.prototype instanceof EventTarget, ...text]`, ['function', 1, 3, true, 'NotSupportedError', 'A sandbox opens no WebSocket: a script reaches other servers with fetch; a stream of events can be read from the body of its answer']],
  // Headers
  ['Headers ignore case and combine', `const h = new Headers({ 'X-A': '1' }); h.append('x-a', '2'); return [h.get('X-a'), h.has('X-A'), [...h]]`, ['1, 2', true, [['x-a', '1, 2']]]],
  ['Headers keep set-cookie apart', `const h = new Headers(); h.append('Set-Cookie', 'a=1'); h.append('set-cookie', 'b=2'); return [h.getSetCookie(), [...h]]`, [['a=1', 'b=2'], [['set-cookie', 'a=1'], ['set-cookie', 'b=2']]]],
  ['Headers are iterated in order of their names', `return [...new Headers([['b', '1'], ['a', '2']]).keys()]`, ['a', 'b']],
  ['Headers refuse line breaks', `try { new Headers({ a: 'x\\r\\nb: y' }) } catch (e) { return e.name }`, 'TypeError'],
  ['Headers refuse a name that is not a token', `try { new Headers({ 'a b': 'x' }) } catch (e) { return e.name }`, 'TypeError'],
  ['Headers refuse characters over U+00FF', `try { new Headers({ a: '☃' }) } catch (e) { return e.name }`, 'TypeError'],
  ['Headers.set replaces all, delete removes', `const h = new Headers([['a','1'],['b','2'],['a','3']]); h.set('A','9'); h.delete('B'); return [...h]`, [['a', '9']]],
  // Response
  ['Response.json', `const r = Response.json({ a: 1 }, { status: 201 }); return [r.status, r.ok, r.headers.get('content-type'), await r.json()]`, [201, true, 'application/json', { a: 1 }]],
  ['Response.json keeps a given content type', `return Response.json(1, { headers: { 'content-type': 'application/problem+json' } }).headers.get('content-type')`, 'application/problem+json'],
  ['Response.json refuses a value without JSON', `try { Response.json(undefined) } catch (e) { return e.name }`, 'TypeError'],
  ['Response.redirect', `const r = Response.redirect('https://a/b', 307); return [r.status, r.headers.get('location')]`, [307, 'https://a/b']],
  ['Response.redirect refuses other statuses', `try { Response.redirect('https://a', 200) } catch (e) { return e.name }`, 'RangeError'],
  ['Response refuses statuses outside of 200 to 599', `return [199, 600, 0, NaN, 'x'].map((s) => { try { new Response('', { status: s }); return s } catch (e) { return e.name } })`, Array(5).fill('RangeError')],
  ['Response refuses a body with 204', `try { new Response('x', { status: 204 }) } catch (e) { return e.name }`, 'TypeError'],
  ['Response takes extra properties', `const r = new Response(); r.data = { x: 1 }; return r.data.x`, 1],
  ['Response.clone gives two bodies', `const r = new Response('abc'); const c = r.clone(); return [await r.text(), await c.text()]`, ['abc', 'abc']],
  ['a body is read once', `const r = new Response('abc'); await r.text(); try { await r.text() } catch (e) { return [e.name, r.bodyUsed] }`, ['TypeError', true]],
  ['a body without a stream becomes one on request', `const r = new Response('abc'); const { value } = await r.body.getReader().read(); return [value instanceof Uint8Array, value.length, r.bodyUsed]`, [true, 3, true]],
  ['a stream as a body', `const r = new Response(new ReadableStream({ start(c) { c.enqueue(new Uint8Array([104])); c.enqueue(new Uint8Array([105])); c.close() } })); const c = r.clone(); return [await r.text(), await c.text()]`, ['hi', 'hi']],
  ['a stream of texts is refused as a body', `const r = new Response(new ReadableStream({ start(c) { c.enqueue('x'); c.close() } })); try { await r.text() } catch (e) { return e.name }`, 'TypeError'],
  ['bytes, arrayBuffer and blob', `const make = () => new Response(new Uint8Array([1, 2]), { headers: { 'content-type': 'image/PNG' } }); const b = await make().blob(); return [[...await make().bytes()], (await make().arrayBuffer()).byteLength, b.size, b.type]`, [[1, 2], 2, 2, 'image/png']],
  ['text drops a byte order mark and replaces wrong bytes', `return [await new Response(new Uint8Array([0xef, 0xbb, 0xbf, 0x61, 0xff])).text(), await new Response('\\ufeffa\\ud800').text()]`, ['a�', 'a�']],
  ['a view given as a body is copied', `const a = new Uint8Array([1, 2, 3, 4]); const r = new Response(a.subarray(1, 3)); a.fill(9); return [...await r.bytes()]`, [2, 3]],
  ['a reader of the first body cannot change its clone', `const r = new Response(new Uint8Array([1])); const c = r.clone(); (await r.bytes())[0] = 9; return [...await c.bytes()]`, [1]],
  ['Response.error', `const r = Response.error(); return [r.type, r.status]`, ['error', 0]],
  ['the tag and names match Web IDL', `return [String(new Response()), String(new Headers()), Response.name, Object.keys(Headers.prototype).includes('append'), Headers.prototype[Symbol.iterator] === Headers.prototype.entries]`, ['[object Response]', '[object Headers]', 'Response', true, true]],
  // Request
  ['Request upper-cases every method', `return ['post', 'Patch', 'x-thing'].map((method) => new Request('https://a', { method }).method)`, ['POST', 'PATCH', 'X-THING']],
  ['Request refuses a body with GET', `try { new Request('https://a', { body: 'x' }) } catch (e) { return e.name }`, 'TypeError'],
  ['Request refuses CONNECT, relative URLs and credentials in a URL', `return [['https://a', { method: 'connect' }], ['/a'], ['https://u:p@a/']].map((args) => { try { new Request(...args) } catch (e) { return e.name } })`, ['TypeError', 'TypeError', 'TypeError']],
  ['Request from a Request moves its body', `const a = new Request('https://a', { method: 'POST', body: 'x', headers: { b: '1' } }); const c = new Request(a, { method: 'PUT' }); return [c.method, await c.text(), c.headers.get('b'), a.bodyUsed]`, ['PUT', 'x', '1', true]],
  ['Request takes extra properties', `const r = new Request('https://a'); r.params = { id: 1 }; return r.params.id`, 1],
  ['Request sets the content type of its body', `return [new Request('https://a', { method: 'POST', body: new URLSearchParams({ a: '1' }) }).headers.get('content-type'), new Request('https://a', { method: 'POST', body: 'x' }).headers.get('content-type')]`, ['application/x-www-form-urlencoded;charset=UTF-8', 'text/plain;charset=UTF-8']],
  ['Request follows its signal', `const c = new AbortController(); const r = new Request('https://a', { signal: c.signal }); c.abort(); return [r.signal.aborted, r.signal === c.signal]`, [true, false]],
  // FormData, Blob, File
  ['FormData goes through multipart and back', `const f = new FormData(); f.append('a', 'x\\ny'); f.append('f"', new File([new Uint8Array([0, 13, 10, 45])], 'n"ä.bin', { type: 'app/x' })); const g = await new Response(f).formData(); const file = g.get('f"'); return [g.get('a'), file.name, file.type, [...new Uint8Array(await file.arrayBuffer())]]`, ['x\r\ny', 'n"ä.bin', 'app/x', [0, 13, 10, 45]]],
  ['formData reads URL-encoded bodies', `const f = await new Response(new URLSearchParams('a=1&a=2')).formData(); return f.getAll('a')`, ['1', '2']],
  ['formData refuses other content types', `try { await new Response('x').formData() } catch (e) { return e.name }`, 'TypeError'],
  ['formData refuses a cut multipart body', `const type = 'multipart/form-data; boundary=b'; const texts = ['', '--b', '--b\\r\\n', '--b\\r\\nContent-Disposition: form-data; name="a"\\r\\n\\r\\nx', '--b\\r\\nx: y\\r\\n\\r\\nx\\r\\n--b--']; const out = []; for (const t of texts) try { await new Response(t, { headers: { 'content-type': type } }).formData(); out.push('ok') } catch (e) { out.push(e.name) } return out`, Array(5).fill('TypeError')],
  ['an empty multipart form', `return [...(await new Response(new FormData()).formData())].length`, 0],
  ['FormData.set replaces, and a Blob becomes a File', `const f = new FormData(); f.append('a', '1'); f.append('a', '2'); f.set('a', new Blob(['x']), 'n.txt'); return [f.getAll('a').length, f.get('a').name, f.get('a') instanceof File]`, [1, 'n.txt', true]],
  ['Blob joins, slices and streams', `const b = new Blob(['ab', new Uint8Array([99]), new Blob(['d'])], { type: 'Text/Plain' }); return [await b.text(), b.type, await b.slice(1, -1, 'x/y').text(), await new Response(b.stream()).text()]`, ['abcd', 'text/plain', 'bc', 'abcd']],
  ['File has a name and a time', `const f = new File(['x'], 'a.txt', { lastModified: 5 }); return [f.name, f.lastModified, f.size, f instanceof Blob]`, ['a.txt', 5, 1, true]],
  // Encoding
  ['TextEncoder and TextDecoder', `const b = new TextEncoder().encode('aä☃😀\\ud800'); return [[...b].length, new TextDecoder().decode(b)]`, [13, 'aä☃😀�']],
  ['TextDecoder is fatal on request', `try { new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([0xff])) } catch (e) { return e.name }`, 'TypeError'],
  ['TextDecoder streams', `const d = new TextDecoder(); const b = new TextEncoder().encode('☃x'); return d.decode(b.subarray(0, 1), { stream: true }) + d.decode(b.subarray(1, 2), { stream: true }) + d.decode(b.subarray(2))`, '☃x'],
  ['TextDecoder knows legacy encodings and refuses unknown ones', `const bad = (() => { try { new TextDecoder('nope') } catch (e) { return e.name } })(); return [new TextDecoder('windows-1252').decode(new Uint8Array([0x80])), new TextDecoder('shift_jis').decode(new Uint8Array([0x82, 0xa0])), new TextDecoder('utf-16le').decode(new Uint8Array([0x61, 0])), bad]`, ['€', 'あ', 'a', 'RangeError']],
  ['TextEncoder.encodeInto', `const a = new Uint8Array(2); return new TextEncoder().encodeInto('aä', a)`, { read: 1, written: 1 }],
  ['atob and btoa', `return [btoa('h\\xff'), atob(' aP8= '), atob('aA'), btoa('')]`, ['aP8=', 'hÿ', 'h', '']],
  ['atob and btoa refuse', `return [() => atob('a'), () => atob('a==='), () => atob('ab=c'), () => atob('*'), () => btoa('☃')].map((f) => { try { return f() } catch (e) { return e.name } })`, Array(5).fill('InvalidCharacterError')],
  // Streams
  ['streams pipe through a transform', `const up = new TransformStream({ transform(c, k) { k.enqueue(c.toUpperCase()) } }); const r = new ReadableStream({ start(c) { c.enqueue('a'); c.enqueue('ä'); c.close() } }).pipeThrough(up).pipeThrough(new TextEncoderStream()).pipeThrough(new TextDecoderStream()); let out = ''; for await (const c of r) out += c; return out`, 'AÄ'],
  ['TextEncoderStream joins a split pair', `const s = new TextEncoderStream(); const w = s.writable.getWriter(); w.write('\\ud83d'); w.write('\\ude00'); w.close(); return await new Response(s.readable).text()`, '😀'],
  ['TextDecoderStream joins a split character', `const s = new TextDecoderStream(); const w = s.writable.getWriter(); w.write(new Uint8Array([0xe2])); w.write(new Uint8Array([0x98, 0x83])); w.close(); let out = ''; for await (const c of s.readable) out += c; return out`, '☃'],
  ['ReadableStream.from and tee', `const [a, b] = ReadableStream.from(['x', 'y']).tee(); const out = []; for await (const c of a) out.push(c); for await (const c of b) out.push(c); return out`, ['x', 'y', 'x', 'y']],
  // Events and aborting
  ['EventTarget calls once, in order, and cancels', `const t = new EventTarget(); const out = []; t.addEventListener('a', () => out.push(1), { once: true }); t.addEventListener('a', { handleEvent(e) { out.push(2); e.preventDefault() } }); const e = new Event('a', { cancelable: true }); const kept = t.dispatchEvent(e); t.dispatchEvent(new Event('a')); return [out, kept, e.defaultPrevented]`, [[1, 2, 2], false, true]],
  ['EventTarget stops at once and forgets with a signal', `const t = new EventTarget(); const c = new AbortController(); const out = []; t.addEventListener('a', (e) => { out.push(1); e.stopImmediatePropagation() }); t.addEventListener('a', () => out.push(2)); t.addEventListener('b', () => out.push(3), { signal: c.signal }); t.dispatchEvent(new Event('a')); c.abort(); t.dispatchEvent(new Event('b')); return out`, [1]],
  ['CustomEvent has a detail', `return new CustomEvent('x', { detail: { a: 1 } }).detail`, { a: 1 }],
  ['AbortController aborts once with its reason', `const c = new AbortController(); let n = 0; c.signal.onabort = () => n++; c.abort(); c.abort('late'); return [n, c.signal.reason.name, c.signal.reason.code, c.signal.reason instanceof DOMException]`, [1, 'AbortError', 20, true]],
  ['AbortSignal.any follows the first', `const a = new AbortController(); const b = new AbortController(); const s = AbortSignal.any([a.signal, b.signal]); let n = 0; s.addEventListener('abort', () => n++); b.abort('b'); a.abort('a'); return [s.aborted, s.reason, n]`, [true, 'b', 1]],
  ['AbortSignal.timeout', `const s = AbortSignal.timeout(5); return await new Promise((r) => { s.onabort = () => r(s.reason.name) })`, 'TimeoutError'],
  ['AbortSignal.abort and throwIfAborted', `try { AbortSignal.abort().throwIfAborted() } catch (e) { return e.name }`, 'AbortError'],
  ['DOMException', `const e = new DOMException('m', 'DataCloneError'); return [e.name, e.code, e.message, e instanceof Error, DOMException.DATA_CLONE_ERR, DOMException.INVALID_STATE_ERR, Object.prototype.toString.call(e), e.stack.split('\\n')[0]]`, ['DataCloneError', 25, 'm', true, 25, 11, '[object DOMException]', 'DataCloneError: m']],
  // structuredClone
  ['structuredClone keeps cycles, maps and kinds', `const a = { d: new Date(1), r: /x/gi, m: new Map([[1, new Set([2])]]), b: new Uint8Array([1, 2]).subarray(1), e: new RangeError('m'), n: null, u: undefined, big: 1n }; a.self = a; const c = structuredClone(a); return [c !== a, c.self === c, c.d.getTime(), c.r.flags, c.m.get(1).has(2), [...c.b], c.b.byteOffset, c.e instanceof RangeError, c.e.message, 'u' in c, typeof c.big]`, [true, true, 1, 'gi', true, [2], 1, true, 'm', true, 'bigint']],
  ['structuredClone refuses functions, symbols and promises', `return [() => {}, Symbol(), Promise.resolve(), new WeakMap(), { f() {} }, new Response()].map((v) => { try { structuredClone(v); return 'ok' } catch (e) { return e.name } })`, Array(6).fill('DataCloneError')],
  ['structuredClone moves buffers', `const b = new ArrayBuffer(2); const c = structuredClone({ b }, { transfer: [b] }); return [b.byteLength, b.detached, c.b.byteLength]`, [0, true, 2]],
  ['structuredClone drops prototypes and keeps an own __proto__', `class A { x = 1 } const c = structuredClone(new A()); const p = structuredClone(JSON.parse('{"__proto__":{"y":1}}')); return [c.constructor === Object, c.x, Object.hasOwn(p, '__proto__'), p.y]`, [true, 1, true, null]],
  // Timers and tasks
  ['timers pass arguments and can be cleared', `const out = []; const t = setTimeout(() => out.push('no'), 1); clearTimeout(t); await new Promise((r) => setTimeout((a, b) => { out.push(a + b); r() }, 5, 1, 2)); return out`, [3]],
  ['setInterval repeats until it is cleared', `let n = 0; await new Promise((r) => { const t = setInterval(() => { if (++n === 3) { clearInterval(t); r() } }, 1) }); await new Promise((r) => setTimeout(r, 20)); return n`, 3],
  ['a timer refuses text', `try { setTimeout('x = 1') } catch (e) { return e.name }`, 'TypeError'],
  ['queueMicrotask runs before timers', `const out = []; setTimeout(() => out.push('t')); queueMicrotask(() => out.push('m')); await new Promise((r) => setTimeout(r, 20)); return out`, ['m', 't']],
  // The rest
  ['performance.now is whole milliseconds', `const t = performance.now(); return [Number.isInteger(t), Number.isInteger(performance.timeOrigin)]`, [true, true]],
  ['self, navigator', `return [self === globalThis, navigator.userAgent, String(navigator)]`, [true, 'Annex', '[object Navigator]']],
  ['there is no process, require or Buffer', `return [typeof process, typeof require, typeof Buffer, typeof global]`, Array(4).fill('undefined')],
]

for (const mode of modes) {
  describe(`the web platform, from ${mode === 'snapshot' ? 'a startup snapshot' : 'evaluated code'}`, () => {
    for (const [name, body, expected] of cases) {
      test(name, async () => assert.deepEqual(await run(platform, mode, body), expected))
    }
  })
}
