import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPlatform, run } from '../guest.ts'

const platform = await createPlatform()

/** The name of what `act` throws, or its value. */
const caught = `const caught = (act) => { try { return act() } catch (e) { return e.name } };
  const rejected = async (promise) => { try { return await promise } catch (e) { return e.name } };`

// biome-ignore format: one case is one line
const cases: [name: string, body: string, expected: unknown][] = [
  ['a status is an unsigned short from 200 to 599', `return [200.9, '404', 65736, 599, 199, 600, 0, -1, NaN].map((status) => caught(() => new Response('', { status }).status))`, [200, 404, 200, 599, ...Array(5).fill('RangeError')]],
  ['a status text is bytes without line breaks', `return ['Öl', '☃', 'a\\nb', 'a\\0'].map((statusText) => caught(() => new Response('', { statusText }).statusText))`, ['Öl', 'TypeError', 'TypeError', 'TypeError']],
  ['options are an object', `return [1, 'x', true].map((init) => caught(() => new Response('', init)))`, Array(3).fill('TypeError')],
  ['null-body statuses refuse a body', `return [204, 205, 304].flatMap((status) => [caught(() => new Response('', { status })), caught(() => Response.json(1, { status })), caught(() => new Response(null, { status }).status)])`, [204, 205, 304].flatMap((status) => ['TypeError', 'TypeError', status])],
  ['static operations are enumerable, with the lengths of the standard', `return [Object.keys(Response), Response.length, Response.json.length, Response.redirect.length, Response.error.length, caught(() => Response.json()), caught(() => Response.redirect())]`, [['error', 'json', 'redirect'], 0, 1, 1, 0, 'TypeError', 'TypeError']],
  ['a redirect has an absolute URL, written in full', `return [caught(() => Response.redirect('/a')), Response.redirect('HTTPS://ex.com/ä').headers.get('location')]`, ['TypeError', 'https://ex.com/%C3%A4']],
  ['a second read of a body is refused, by any method', `const out = []; for (const way of ['text', 'json', 'bytes', 'arrayBuffer', 'blob', 'formData']) { const r = new Response('1'); await r.text(); out.push(await rejected(r[way]()), r.bodyUsed, r.body.locked, caught(() => r.clone())) } return out`, Array(6).fill(['TypeError', true, true, 'TypeError']).flat()],
  ['a locked body cannot be read or cloned, but is not used', `const r = new Response('1'); r.body.getReader(); return [await rejected(r.text()), caught(() => r.clone()), r.bodyUsed]`, ['TypeError', 'TypeError', false]],
  ['an empty body is never used', `const r = new Response(); return [await r.text(), r.bodyUsed, r.body, await r.text(), (await r.bytes()).length, await rejected(r.json())]`, ['', false, null, '', 0, 'SyntaxError']],
  ['a cloned stream shares no chunk with the first', `const chunk = new Uint8Array([1, 2]); const r = new Response(new ReadableStream({ start(c) { c.enqueue(chunk); c.close() } })); const c = r.clone(); const [a, b] = [await r.body.getReader().read(), await c.body.getReader().read()]; return [a.value === chunk, b.value === chunk, b.value.buffer === chunk.buffer, [...b.value]]`, [true, false, false, [1, 2]]],
  ['an error of the stream reaches its reader', `const make = () => new Response(new ReadableStream({ pull() { throw new RangeError('mine') } })); return Promise.all(['text', 'formData', 'blob'].map((way) => rejected(make()[way]())))`, Array(3).fill('RangeError')],
  ['a chunk other than a Uint8Array fails the body, and cancels the stream', `let reason; const r = new Response(new ReadableStream({ pull(c) { c.enqueue('x') }, cancel(why) { reason = why.name } })); return [await rejected(r.text()), reason]`, ['TypeError', 'TypeError']],
  ['a read of a body ignores fields on Object.prototype', `const seen = []; Object.defineProperty(Object.prototype, 'then', { configurable: true, get() { seen.push(typeof this.value) } }); const text = await new Response(new ReadableStream({ start(c) { c.enqueue(new Uint8Array([104, 105])); c.close() } })).text(); delete Object.prototype.then; return [text, seen]`, ['hi', []]],
  ['many small chunks are read without a deep stack', `let left = 50000; return (await new Response(new ReadableStream({ pull(c) { c.enqueue(new Uint8Array(1)); if (--left === 0) c.close() } }, { highWaterMark: 50001 })).bytes()).length`, 50000],
  ['bytes have their own buffer', `const bytes = await new Response(new Uint8Array(100).subarray(10, 12)).bytes(); return [bytes.length, bytes.buffer.byteLength]`, [2, 2]],
  ['blob() has the parsed type of the header', `const type = async (value) => (await new Response('', { headers: [['content-type', value]] }).blob()).type; return Promise.all(['Text/HTML; Charset="utf-8"', 'text/plain, text/html;x=Y', 'nonsense', 'text/html;charset=a, text/html;b=c'].map(type))`, ['text/html;charset=utf-8', 'text/html;x=Y', '', 'text/html;b=c;charset=a']],
  ['a content type with a long gap is parsed quickly', `const type = 'a/' + ' '.repeat(60000) + 'b; x=' + ' '.repeat(60000) + 'y'; const start = Date.now(); const blob = await new Response('', { headers: [['content-type', type]] }).blob(); return [blob.type, Date.now() - start < 200]`, ['', true]],
  ['a response as the options of another', `const r = new Response('x', { status: 404, statusText: 'no', headers: { a: '1' } }); const c = new Response(r.body, r); return [c.status, c.statusText, c.headers.get('a'), await c.text()]`, [404, 'no', '1', 'x']],
  ['an abort after the answer drops its unread part', `const c = new AbortController(); const r = await fetch('data:,x', { signal: c.signal }); const text = await r.clone().text(); const kept = r.clone(); c.abort(new RangeError('why')); return [text, await rejected(kept.text()), await rejected(r.text()), await rejected(r.blob()), await rejected(r.body.getReader().read())]`, ['x', 'RangeError', 'RangeError', 'RangeError', 'RangeError']],
  ['a fetch that is aborted before its start cancels its stream', `let why; const body = new ReadableStream({ cancel(reason) { why = reason } }); return [await rejected(fetch('https://a/', { method: 'POST', body, signal: AbortSignal.abort(new RangeError('no')) })), why.name]`, ['RangeError', 'RangeError']],
  // data: URLs
  ['a data: URL is answered inside of the isolate', `const r = await fetch('data:text/plain;charset=utf-8;base64,4piD#x'); return [r.status, r.statusText, r.type, r.url, r.headers.get('content-type'), await r.text()]`, [200, 'OK', 'basic', 'data:text/plain;charset=utf-8;base64,4piD', 'text/plain;charset=utf-8', '☃']],
  ['a data: URL without a comma or with broken base64 fails', `return [await rejected(fetch('data:x')), await rejected(fetch('data:;base64,a'))]`, ['TypeError', 'TypeError']],
  ['a data: URL without a type is US-ASCII, and bytes may be escaped', `const r = await fetch('data:,a%00%ff%zz'); return [r.headers.get('content-type'), [...await r.bytes()]]`, ['text/plain;charset=US-ASCII', [97, 0, 255, 37, 122, 122]]],
  ['HEAD of a data: URL has no body', `return (await fetch('data:,x', { method: 'HEAD' })).text()`, ''],
]

for (const [name, body, expected] of cases) {
  test(name, async () => assert.deepEqual(await run(platform, 'snapshot', caught + body), expected))
}
