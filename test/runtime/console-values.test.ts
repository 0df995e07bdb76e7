// Each case is one line, so that it reads as a table.
// biome-ignore-all format: a case to a line
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createGuest, createPlatform, run, scriptOf } from './guest.ts'

const platform = await createPlatform()

/** What a script logs, and the line of it. Frames stand as `@`. */
const cases: [name: string, body: string, expected: string][] = [
  ['the text after an error', `console.log('A', new Error('x'), 'for user 42')`, 'A Error: x@ for user 42'],
  ['values beside an error in an object', `console.log({ err: new Error('x'), user: 42 })`, '{ err: Error: x@, user: 42 }'],
  ['the text after an error of the platform', `try { new URL('no') } catch (e) { console.log(e, 'tail') }`, 'TypeError: Invalid URL: "no"@ tail'],
  ['a stack as a text', `try { new URL('no') } catch (e) { console.log('A', e.stack, 'tail', { stack: e.stack.split('\\n').length > 3 }) }`, 'A TypeError: Invalid URL: "no"@ tail { stack: true }'],
  ['own properties of an error', `console.log(Object.assign(new Error('x'), { status: 404, code: 'E_X', data: { a: [1] } }), 'tail')`, 'Error: x@\n  { status: 404, code: "E_X", data: { a: [1] } } tail'],
  ['a changed message', `const e = new Error('old'); e.message = 'new: ' + e.message; console.log(e)`, 'Error: new: old@'],
  ['a changed name', `class HttpError extends Error { constructor(m) { super(m); this.name = 'HttpError'; this.status = 500 } } console.log(new HttpError('x'))`, 'HttpError: x@\n  { status: 500 }'],
  ['a stack of the script', `const e = new Error('x'); e.stack = 'my own stack'; console.log(e)`, 'Error: x\nmy own stack'],
  ['a cause', `console.log(new Error('a', { cause: new RangeError('b', { cause: new Error('c') }) }))`, 'Error: a@\n  caused by: RangeError: b@\n  caused by: Error: c@'],
  ['a cause that is not an error', `console.log(new Error('a', { cause: { code: 1 } })); `, 'Error: a@\n  caused by: { code: 1 }'],
  ['a cause as a text', `console.log(new Error('a', { cause: 'why' })); `, 'Error: a@\n  caused by: "why"'],
  ['the errors of an AggregateError', `console.log(new AggregateError([new Error('a'), 'b'], 'all'))`, 'AggregateError: all@\n  errors[0]: Error: a@\n  errors[1]: "b"'],
  ['errors of Promise.any', `await Promise.any([Promise.reject(new Error('a'))]).catch((e) => console.log(e))`, 'AggregateError: All promises were rejected\n  errors[0]: Error: a@'],
  ['an error that is its own cause', `const e = new Error('a'); e.cause = e; console.log(e)`, 'Error: a@\n  caused by: [Circular]'],
  ['an error without a stack', `const e = new Error('a'); e.stack = undefined; console.log(e)`, 'Error: a'],
  ['an error without class', `function Old(m) { this.message = m } Old.prototype = Object.create(Error.prototype); console.log(new Old('x'))`, 'Error: x'],
  ['a DOMException', `try { atob('*') } catch (e) { console.log(e, e.message.length > 0) }`, 'InvalidCharacterError: '],
  ['a URL', `console.log({ to: new URL('https://a/b?c=1#d') })`, '{ to: URL { href: "https://a/b?c=1#d" } }'],
  ['a Response', `console.log(Object.assign(new Response('x', { status: 404, statusText: 'Not Found', headers: { a: 'b' } }), { data: 1 }))`, 'Response { status: 404, statusText: "Not Found", url: "", headers: Headers { "a" => "b", "content-type" => "text/plain;charset=UTF-8" }, bodyUsed: false, data: 1 }'],
  ['a Request', `console.log(new Request('https://a/', { method: 'POST', body: 'x', headers: { 'content-type': 'a/b' } }))`, 'Request { method: "POST", url: "https://a/", headers: Headers { "content-type" => "a/b" }, bodyUsed: false }'],
  ['a Blob and a File', `console.log(new Blob(['abc'], { type: 'a/b' }), new File(['abc'], 'n.txt', { lastModified: 5 }))`, 'Blob { size: 3, type: "a/b" } File { name: "n.txt", size: 3, type: "", lastModified: 5 }'],
  ['forms and parameters', `const f = new FormData(); f.set('a', 'b'); console.log(f, new URLSearchParams('c=d'))`, 'FormData { "a" => "b" } URLSearchParams { "c" => "d" }'],
  ['a signal and an event', `console.log(AbortSignal.abort('why'), new Event('x'))`, 'AbortSignal { aborted: true, reason: "why" } Event { type: "x", isTrusted: [Getter] }'],
  ['an object with the fields of a Response', `console.log(Object.create(Response.prototype), Object.assign(Object.create(URL.prototype), { a: 1 }))`, 'Response {} URL { a: 1 }'],
  ['collections', `console.log(new Map([[1, { a: 2 }]]), new Set(['x']), new Uint8Array([1, 2]), new Date(0), /x/g, new ArrayBuffer(3))`, 'Map(1) { 1 => { a: 2 } } Set(1) { "x" } Uint8Array(2) [1, 2] 1970-01-01T00:00:00.000Z /x/g ArrayBuffer { byteLength: 3 }'],
  ['console.assert with a format', `console.assert(true, 'no'); console.assert(false, '%s is %d', 'x', 7, { a: 1 })`, 'Assertion failed: x is 7 { a: 1 }'],
  ['console.assert with a value', `console.assert(false, { a: 1 })`, 'Assertion failed { a: 1 }'],
  ['console.assert without arguments', `console.assert()`, 'Assertion failed'],
  ['console.trace with a format', `console.trace('%s', 'x')`, 'Trace: x@'],
]

const frames = /(?:\n {4}at .*annex:script:\d+:\d+\)?)+/g

for (const [name, body, expected] of cases) {
  test(`the log shows ${name}`, async () => {
    const lines: string[] = []
    await run(platform, 'snapshot', body, undefined, (text) => lines.push(text))
    assert.equal(lines.length, 1)
    const line = lines[0]?.replace(frames, '@') ?? ''
    if (expected.endsWith(': ')) assert.ok(line.startsWith(expected), line)
    else assert.equal(line, expected)
  })
}

test('a thrown value that is not an Error is shown in the log', async () => {
  const thrown: [code: string, shown: string][] = [
    [`{ code: 7, why: 'no' }`, 'The script threw { code: 7, why: "no" }'],
    [`new Response('x', { status: 418 })`, 'The script threw Response { status: 418, statusText: "", url: "", headers: Headers { "content-type" => "text/plain;charset=UTF-8" }, bodyUsed: false }'],
    [`'text'`, 'The script threw "text"'],
    [`undefined`, 'The script threw undefined'],
    [`[1]`, 'The script threw [1]'],
  ]
  for (const [code, shown] of thrown) {
    const guest = createGuest({ platform, mode: 'snapshot', script: scriptOf(`throw ${code}`) })
    const { result } = await guest.dispatch({})
    assert.equal(result.kind === 'error' && result.error.message, shown)
    guest.close()
  }
})

test('the properties of an uncaught error are shown in the log', async () => {
  const script = scriptOf(`setTimeout(() => { throw Object.assign(new Error('timer'), { code: 1 }) }); setTimeout(() => { throw { code: 2 } })
    await new Promise((r) => setTimeout(r, 20)); throw Object.assign(new AggregateError([{ code: 3 }], 'all', { cause: 'why' }), { status: 4 })`)
  const guest = createGuest({ platform, mode: 'snapshot', script })
  const { result } = await guest.dispatch({})
  const stack = (result.kind === 'error' && result.error.stack) || ''
  assert.equal(stack.replace(frames, '@'), 'AggregateError: all@\n  { status: 4 }\n  errors[0]: { code: 3 }\n  caused by: "why"')
  assert.deepEqual(guest.logs.map(({ text }) => text.replace(frames, '@')), ['Uncaught Error: timer@\n  { code: 1 }', 'Uncaught Error: The script threw { code: 2 }'])
  guest.close()
})

test('logging calls no getter and no method of a value', async () => {
  const lines: string[] = []
  const body = `let called = 0; const trap = () => { called++; return 'x' }
    class Trap { get a() { return trap() } get entries() { return trap() } get [Symbol.iterator]() { return trap() } get [Symbol.toStringTag]() { return trap() } toString() { return trap() } toJSON() { return trap() } }
    class TrapMap extends Map { get size() { return trap() } *[Symbol.iterator]() { trap() } entries() { return trap() } }
    class TrapDate extends Date { toISOString() { return trap() } getTime() { return trap() } }
    class TrapArray extends Array { *[Symbol.iterator]() { trap() } }
    class TrapBytes extends Uint8Array { get length() { return trap() } *[Symbol.iterator]() { trap() } }
    class TrapUrl extends URL { get href() { return trap() } toString() { return trap() } }
    class TrapResponse extends Response { get status() { return trap() } get headers() { return trap() } }
    const own = Object.defineProperty({}, 'a', { enumerable: true, get: trap }), list = Object.defineProperty([1], 0, { get: trap })
    const error = new Error('x'); for (const key of ['code', 'cause', 'errors']) Object.defineProperty(error, key, { enumerable: true, get: trap })
    console.log(new Trap(), new TrapMap([[1, 2]]), new TrapDate(0), TrapArray.of(1), new TrapBytes(2), new TrapUrl('https://a/'), new TrapResponse(), own, list, error, Object.defineProperty(() => {}, 'name', { get: trap }))
    console.log(called)`
  await run(platform, 'snapshot', body, undefined, (text) => lines.push(text))
  assert.equal(lines[1], '0')
  assert.match(lines[0] ?? '', /^Trap \{\} TrapMap\(1\) \{ 1 => 2 \} 1970-01-01T00:00:00.000Z \[1\] TrapBytes\(2\) \[0, 0\] TrapUrl \{ href: "https:\/\/a\/" \} TrapResponse \{ status: 200.* \{ a: \[Getter\] \} \[\[Getter\]\] Error: x/)
})
