import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPlatform, run } from '../guest.ts'

const platform = await createPlatform()

/** The name of what `act` throws, or its value. */
const caught = `const caught = (act) => { try { return act() } catch (e) { return e.name } };
  const rejected = async (promise) => { try { return await promise } catch (e) { return e.name } };`

// biome-ignore format: one case is one line
const cases: [name: string, body: string, expected: unknown][] = [
  ['options of a Blob are an object, and "endings" is a word', `return [1, 'x', true, { endings: 'x' }].map((o) => caught(() => new Blob([], o)))`, Array(4).fill('TypeError')],
  ['parts of a Blob are a list', `return [null, 1, 'x', {}].map((parts) => caught(() => new Blob(parts)))`, Array(4).fill('TypeError')],
  ['native endings are line feeds', `return new Blob(['a\\r\\nb\\rc\\n', new Uint8Array([13])], { endings: 'native' }).text()`, 'a\nb\nc\n\r'],
  ['slice clamps, counts from the end, and takes any type', `const b = new Blob(['0123456789'], { type: 'A/B' }); return Promise.all([b.slice(-3), b.slice(2, -6), b.slice(5, 2), b.slice(NaN, 1.5), b.slice(-100, 1e300), b.slice(0, 1, null)].map(async (s) => [await s.text(), s.type]))`, [['789', ''], ['23', ''], ['', ''], ['01', ''], ['0123456789', ''], ['0', 'null']]],
  ['lengths match the standard', `return [Blob, Blob.prototype.slice, File, FormData, FormData.prototype.append, FormData.prototype.forEach].map((f) => f.length)`, [0, 0, 2, 0, 2, 1]],
  ['a reader cannot change a Blob', `const b = new Blob(['abc']); (await b.bytes()).fill(0); new Uint8Array(await b.arrayBuffer()).fill(0); for await (const c of b.stream()) c.fill(0); await new Response(b).bytes().then((c) => c.fill(0)); return b.text()`, 'abc'],
  ['a Blob streams into the buffers of its reader', `const r = new Blob(['abcde']).stream().getReader({ mode: 'byob' }); const out = []; for (;;) { const { value, done } = await r.read(new Uint8Array(2)); if (done) return out; out.push(value.length) }`, [2, 2, 1]],
  ['a File takes a name, a time and options', `return [caught(() => new File(['x'])), caught(() => new File([], 'a', 1)), new File([], '\\ud800', { lastModified: 1.9 }).name, new File([], 'a', { lastModified: null }).lastModified, new File([], 'a', { lastModified: '12' }).lastModified]`, ['TypeError', 'TypeError', '\ufffd', 0, 12]],
  ['FormData refuses operations without their arguments', `const f = new FormData(); return [() => f.append('a'), () => f.set('a'), () => f.get(), () => f.getAll(), () => f.has(), () => f.delete(), () => f.append('a', 'b', 'c')].map(caught)`, Array(7).fill('TypeError')],
  ['iterators of FormData are live', `const f = new FormData(); f.append('a', '1'); const i = f.entries(); i.next(); f.append('b', '2'); return [i.next().value, i.next().done, String(i)]`, [['b', '2'], true, '[object FormData Iterator]']],
  ['names and file names in multipart cannot write headers', `const f = new FormData(); f.append('a"\\r\\nb', new Blob(['x']), 'c"\\nd'); const text = await new Response(f).text(); return text.split('\\r\\n')[1]`, 'Content-Disposition: form-data; name="a%22%0D%0Ab"; filename="c%22%0Ad"'],
  ['no two forms have the same boundary', `const make = () => new Response(new FormData()).headers.get('content-type'); return [make() === make(), /boundary=----AnnexFormBoundary[0-9a-f]{32}$/.test(make())]`, [false, true]],
  ['a form is split at the boundary of its type, quoted or not', `const body = '--b c\\r\\nContent-Disposition: form-data; name="a"\\r\\n\\r\\n\\ufeffx\\r\\n--b c\\r\\ncontent-disposition: form-data; filename="; name=no"; name=f\\r\\nContent-Type: text/x\\r\\n\\r\\ny\\r\\n--b c--'; const f = await new Response(body, { headers: { 'content-type': 'Multipart/Form-Data; boundary="b c"' } }).formData(); const file = f.get('f'); return [f.get('a'), file.name, file.type, await file.text()]`, ['\ufeffx', '; name=no', 'text/x', 'y']],
  ['a part other than form-data is refused', `return rejected(new Response('--b\\r\\nContent-Disposition: attachment; name="a"\\r\\n\\r\\nx\\r\\n--b--', { headers: { 'content-type': 'multipart/form-data; boundary=b' } }).formData())`, 'TypeError'],
  ['an URL-encoded form may begin with a question mark', `const f = await new Response('?a=1&b=%E2%98%83+x', { headers: { 'content-type': 'application/x-www-form-urlencoded' } }).formData(); return [...f]`, [['?a', '1'], ['b', '☃ x']]],
]

for (const [name, body, expected] of cases) {
  test(name, async () => assert.deepEqual(await run(platform, 'snapshot', caught + body), expected))
}
