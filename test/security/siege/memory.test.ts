// tier: wall and torture (the attacks use every processor)
// Each attack is one line, so that it reads as a table.
// biome-ignore-all format: a case to a line
import { describeSiege, forMemory } from './siege.ts'

/** Which of them is first, V8 and the machine decide: the resident memory is read from outside. */
const over = 'memory_limit or cpu_limit or wall_clock_limit'
/** V8 may throw an error, which the script could catch, before the limit is reached. */
const refused = `script_failed or ${over}`

describeSiege('memory, in and outside of the heap', forMemory, [
  { name: 'arrays', script: `const all = []; for (;;) all.push(new Array(1e5).fill(all.length))`, ends: over },
  { name: 'an array of the largest length', script: `return new Array(2 ** 32 - 2).fill(0).length`, ends: refused },
  { name: 'a growing Map', script: `const m = new Map(); for (let i = 0; ; i++) m.set(i, { i })`, ends: refused },
  { name: 'a growing Set', script: `const m = new Set(); for (let i = 0; ; i++) m.add(i)`, ends: refused },
  { name: 'symbols that are never let go', script: `const all: any[] = []; for (;;) all.push(Symbol.for('x' + all.length))`, ends: over },
  { name: 'a BigInt that squares itself', script: `let n = 2n; for (;;) n = n * n`, ends: refused },
  { name: 'a BigInt as a text', script: `return (2n ** (2n ** 25n)).toString().length`, ends: refused },
  { name: 'a text that doubles', script: `let s = 'x'; for (;;) { s = s + s; s.charCodeAt(s.length >> 1) }`, ends: refused },
  { name: 'padStart', script: `const all = []; for (;;) { const s = 'x'.padStart(2 ** 28, 'ab'); s.charCodeAt(5); all.push(s) }`, ends: refused },
  { name: 'normalize', script: `return '\\uFDFA'.repeat(2 ** 24).normalize('NFKD').length`, ends: refused },
  // V8 checks the limit when it collects garbage: one large array may come and go in between.
  { name: 'split', script: `return 'x'.repeat(5e7).split('').length`, ends: `50000000 or ${refused}` },
  { name: 'JSON of what refers to itself many times', script: `let o: any = {}; for (let i = 0; i < 26; i++) o = { a: o, b: o }; return JSON.stringify(o).length`, ends: refused },
  { name: 'JSON without end in its depth', script: `return JSON.parse('['.repeat(1e7) + ']'.repeat(1e7))`, ends: refused },
  { name: 'JSON of a hole', script: `return JSON.stringify(new Array(1e9)).length`, ends: refused },
  { name: 'Intl, outside of the heap', script: `const all = []; for (;;) all.push(new Intl.NumberFormat('ar', { style: 'currency', currency: 'EUR' }), new Intl.Segmenter('th'), new Intl.Collator('de-u-co-phonebk'))`, ends: refused },
  { name: 'typed arrays', script: `const all = []; for (;;) all.push(new Float64Array(1e6).fill(1))`, ends: refused },
  { name: 'buffers that are resized', script: `const all = []; for (;;) { const b = new (ArrayBuffer as any)(0, { maxByteLength: 1e8 }); b.resize(1e8); new Uint8Array(b).fill(1); all.push(b) }`, ends: refused },
  { name: 'buffers that only reserve', script: `const all = []; for (let i = 0; i < 1e5; i++) all.push(new (ArrayBuffer as any)(0, { maxByteLength: 2 ** 32 })); return all.length`, ends: refused },
  { name: 'a buffer that is transferred and doubles', script: `let b: any = new ArrayBuffer(1e6); for (;;) b = b.transfer(b.byteLength * 2)`, ends: refused },
  { name: 'blobs of blobs', script: `let b = new Blob(['x'.repeat(1e6)]); for (;;) b = new Blob([b, b])`, ends: refused },
  { name: 'random bytes', script: `const all = []; for (;;) all.push(crypto.getRandomValues(new Uint8Array(65536)))`, ends: refused },
  { name: 'regular expressions', script: `const all = []; for (;;) all.push(new RegExp('(a|b)*' + all.length, 'g').exec('ab'))`, ends: over },
  { name: 'streams, answers and signals', script: `const all = []; for (;;) all.push(new TransformStream(), new Response('x'), new AbortController())`, ends: over },
  { name: 'WeakRefs and finalizers', script: `const all = []; for (;;) { const o = {}; all.push(new WeakRef(o)); new FinalizationRegistry(() => {}).register(o, 1) }`, ends: over },
  { name: 'a form', script: `const f = new FormData(); for (let i = 0; ; i++) f.append('x' + i, 'y'.repeat(1000))`, ends: over },
  { name: 'headers by the million', script: `const h = new Headers(); for (let i = 0; i < 1e6; i++) h.append('x-' + i, 'y'); return new Response('x', { headers: h })`, ends: refused },
  { name: 'promises that wait for each other', script: `let p: any = Promise.resolve(); for (let i = 0; i < 3e6; i++) { const q = p; p = Promise.resolve().then(() => q) } await p`, ends: refused },
  { name: 'an answer without end', script: `return new Response(new ReadableStream({ pull(c) { c.enqueue(new Uint8Array(65536)) } }))`, ends: `SANDBOX_BODY_BYTES or SANDBOX_CPU_MS` },
  { name: 'an answer over the limit', script: `return new Response('x'.repeat(12_000_000))`, ends: `answer_too_large or ${over}` },
  { name: 'recursion', script: `const f = () => f() + 1; return f()`, ends: refused },
  { name: 'recursion through awaits', script: `const f = async () => { await f() }; await f()`, ends: refused },
  { name: 'recursion through toJSON', script: `const o: any = { toJSON() { return { o } } }; return JSON.stringify(o)`, ends: refused },
  { name: 'a clone of great depth', script: `let o: any = {}; for (let i = 0; i < 2e5; i++) o = { o }; structuredClone(o); return 'survived'`, ends: `survived or ${refused}` },
  { name: 'a log line of great depth', script: `let o: any = {}; for (let i = 0; i < 2e5; i++) o = { o }; console.log(o); return 'survived'`, ends: `survived or ${over}` },
  { name: 'causes without end', script: `let e: any = new Error('x'); for (let i = 0; i < 1e5; i++) e = new Error('x', { cause: e }); throw e`, ends: refused },
  { name: 'the longest stack trace', script: `Error.stackTraceLimit = Infinity; const f = () => f(); try { f() } catch (e: any) { return e.stack.length > 1000 ? 'survived' : '' }`, ends: `survived or ${over}` },
  { name: 'an array at load', atLoad: true, script: `const all = []; for (;;) all.push(new Array(1e5).fill(all.length))`, ends: refused },
])
