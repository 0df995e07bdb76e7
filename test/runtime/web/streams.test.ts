import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPlatform, run } from '../guest.ts'

const platform = await createPlatform()

/** The name of what `act` throws, or its value. */
const caught = `const caught = (act) => { try { return act() } catch (e) { return e.name } };
  const rejected = async (promise) => { try { return await promise } catch (e) { return e.name } };`

// biome-ignore format: one case is one line
const cases: [name: string, body: string, expected: unknown][] = [
  ['interfaces have their names', `return [ReadableStream, WritableStream, TransformStream, ReadableStreamDefaultReader, ByteLengthQueuingStrategy].map((made) => made.name)`, ['ReadableStream', 'WritableStream', 'TransformStream', 'ReadableStreamDefaultReader', 'ByteLengthQueuingStrategy']],
  ['an iterator of a stream is an ordinary asynchronous iterator', `const i = new ReadableStream()[Symbol.asyncIterator](); const p = Object.getPrototypeOf(Object.getPrototypeOf((async function* () {}).prototype)); return [Object.getPrototypeOf(Object.getPrototypeOf(i)) === p, i[Symbol.asyncIterator]() === i]`, [true, true]],
  ['leaving a loop early cancels the stream', `let why = 'none'; const s = new ReadableStream({ pull(c) { c.enqueue(1) }, cancel() { why = 'cancelled' } }); for await (const _ of s) break; return [why, s.locked]`, ['cancelled', false]],
  ['pipeTo stops with its signal, and aborts both ends', `const c = new AbortController(); const seen = []; const done = new ReadableStream({ cancel(r) { seen.push('source ' + r) } }).pipeTo(new WritableStream({ abort(r) { seen.push('sink ' + r) } }), { signal: c.signal }); c.abort('why'); return [await done.catch((r) => r), seen.sort()]`, ['why', ['sink why', 'source why']]],
  ['a byte stream fills and detaches the buffer of its reader', `const s = new ReadableStream({ type: 'bytes', pull(c) { c.byobRequest.view[0] = 7; c.byobRequest.respond(1) } }); const given = new Uint8Array(4); const { value } = await s.getReader({ mode: 'byob' }).read(given); return [[...value], given.byteLength, value.buffer.byteLength]`, [[7], 0, 4]],
  ['a reader may require a minimum of bytes', `let n = 0; const s = new ReadableStream({ type: 'bytes', pull(c) { c.enqueue(new Uint8Array([++n])) } }); const { value } = await s.getReader({ mode: 'byob' }).read(new Uint8Array(4), { min: 3 }); return value.length`, 3],
  ['back-pressure holds a source back', `let pulls = 0; const s = new ReadableStream({ pull(c) { pulls++; c.enqueue('x') } }, { highWaterMark: 3 }); await new Promise((r) => setTimeout(r)); const before = pulls; await s.getReader().read(); await new Promise((r) => setTimeout(r)); return [before, pulls]`, [3, 4]],
  ['ReadableStream.from accepts lists, iterators and streams', `const read = async (s) => { const out = []; for await (const x of s) out.push(x); return out }; return [await read(ReadableStream.from([1, Promise.resolve(2)])), await read(ReadableStream.from((async function* () { yield 3 })())), await read(ReadableStream.from(new Blob(['x']).stream().pipeThrough(new TextDecoderStream()))), caught(() => ReadableStream.from(1))]`, [[1, 2], [3], ['x'], 'TypeError']],
  ['a transform that throws errors both of its ends', `const t = new TransformStream({ transform() { throw new RangeError('no') } }); const w = t.writable.getWriter(); w.write(1).catch(() => {}); return [await rejected(t.readable.getReader().read()), await rejected(w.closed)]`, ['RangeError', 'RangeError']],
]

for (const [name, body, expected] of cases) {
  test(name, async () => assert.deepEqual(await run(platform, 'snapshot', caught + body), expected))
}
