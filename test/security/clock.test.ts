// Each case is one line, so that it reads as a table.
// biome-ignore-all format: a case to a line
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createPlatform, modes, run } from '../runtime/guest.ts'

const platform = await createPlatform()
const wait = `const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));`
const work = `(() => { let x = 0; for (let i = 0; i < 3e6; i++) x += Math.sqrt(i); return x })();`

/** Every way to ask what time it is, as a number. */
const clocks: [name: string, read: string][] = [
  ['Date.now()', `Date.now()`],
  ['new Date()', `new Date().getTime()`],
  ['Date()', `Date.parse(Date())`],
  ['Reflect.construct(Date)', `Reflect.construct(Date, []).getTime()`],
  ['Reflect.construct(Date, [], Other)', `Date.prototype.getTime.call(Reflect.construct(Date, [], class Other {}))`],
  ['a subclass', `new (class extends Date {})().getTime()`],
  ['a subclass of a subclass, with a constructor', `new (class extends (class extends Date { constructor() { super() } }) {})().getTime()`],
  ['Date.prototype.constructor', `new Date.prototype.constructor().getTime()`],
  ['new Date(0).constructor', `new (new Date(0).constructor)().getTime()`],
  ['Date through a Proxy', `new (new Proxy(Date, {}))().getTime()`],
  ['Date bound', `new (Date.bind(null))().getTime()`],
  ['structuredClone(date).constructor', `new (structuredClone(new Date(0)).constructor)().getTime()`],
  ['Temporal.Now.instant', `Number(Temporal.Now.instant().epochNanoseconds / 1000n) / 1e3`],
  ['Temporal.Now.zonedDateTimeISO', `Number(Temporal.Now.zonedDateTimeISO('UTC').epochNanoseconds / 1000n) / 1e3`],
  ['Temporal.Now.plainDateTimeISO', `Number(Temporal.Now.plainDateTimeISO('UTC').toZonedDateTime('UTC').epochNanoseconds / 1000n) / 1e3`],
  ['Temporal.Now.plainTimeISO', `(() => { const t = Temporal.Now.plainTimeISO(); return Temporal.PlainTime.from('00:00').until(t).total('nanoseconds') / 1e6 })()`],
  ['Temporal.Now.plainDateISO', `Date.parse(Temporal.Now.plainDateISO('UTC').toString())`],
  ['new Event().timeStamp', `new Event('x').timeStamp`],
  ['new File().lastModified', `new File([], 'x').lastModified`],
  ['performance.now()', `performance.now()`],
  ['performance.timeOrigin', `performance.timeOrigin`],
  ['Intl.DateTimeFormat format()', `new Intl.DateTimeFormat('en', { second: 'numeric', fractionalSecondDigits: 3 }).format().replace('.', '') | 0`],
  ['Intl.DateTimeFormat formatToParts()', `new Intl.DateTimeFormat('en', { second: 'numeric', fractionalSecondDigits: 3 }).formatToParts().map((p) => p.value).join('').replace('.', '') | 0`],
]

/** What the language says about Date, where ours could differ. */
const language: [name: string, body: string, expected: unknown][] = [
  ['its own properties', `return Reflect.ownKeys(Date)`, ['length', 'name', 'prototype', 'now', 'parse', 'UTC']],
  ['their attributes', `return Object.entries(Object.getOwnPropertyDescriptors(Date)).map(([k, d]) => k + ' ' + [d.writable, d.enumerable, d.configurable].map(Number).join('')).join()`, 'length 001,name 001,prototype 000,now 101,parse 101,UTC 101'],
  ['its name and length', `return [Date.name, Date.length, Date.now.name, Date.now.length]`, ['Date', 7, 'now', 0]],
  ['the property on the global object', `const d = Object.getOwnPropertyDescriptor(globalThis, 'Date'); return [d.writable, d.enumerable, d.configurable]`, [true, false, true]],
  ['its source is native', `return [Date, Date.now, Temporal.Now.instant].every((f) => /^function [^(]*\\(\\) \\{ \\[native code\\] \\}$/.test(Function.prototype.toString.call(f)))`, true],
  ['it inherits from Function', `return [Object.getPrototypeOf(Date) === Function.prototype, Date instanceof Function, typeof Date]`, [true, true, 'function']],
  ['its prototype leads back to it', `return [Date.prototype.constructor === Date, Object.keys(Date.prototype).length, Object.getOwnPropertyDescriptor(Date.prototype, 'constructor').enumerable]`, [true, 0, false]],
  ['Date.now is no constructor', `try { new Date.now() } catch (e) { return e.name }`, 'TypeError'],
  ['as a function it is a text, for any argument', `return [typeof Date(), typeof Date(0), /1970/.test(Date(0)), Date.call(new Date(5)).length > 20]`, ['string', 'string', false, true]],
  ['numbers, texts, parts and dates', `return [new Date(5).getTime(), new Date('2020-01-02').getTime(), new Date(2020, 0).getFullYear(), new Date(new Date(7)).getTime(), new Date(undefined).getTime(), new Date(null).getTime()]`, [5, 1577923200000, 2020, 7, null, 0]],
  ['a subclass keeps its prototype and its methods', `class X extends Date { twice() { return this.getTime() * 2 } } const x = new X(4); return [x.twice(), x instanceof X, x instanceof Date, x.constructor === X, Object.prototype.toString.call(x)]`, [8, true, true, true, '[object Date]']],
  ['Reflect.construct takes the prototype of its third argument', `function X() {} const x = Reflect.construct(Date, [3], X); return [Object.getPrototypeOf(x) === X.prototype, Date.prototype.getTime.call(x)]`, [true, 3]],
  ['a third argument without a prototype', `function X() {} X.prototype = 1; return Object.getPrototypeOf(Reflect.construct(Date, [3], X)) === Date.prototype`, true],
  ['a given value is converted once', `let n = 0; new Date({ [Symbol.toPrimitive]() { n++; return 1 } }); return n`, 1],
  ['instanceof and structuredClone', `const d = structuredClone(new Date(9)); return [d instanceof Date, d.getTime()]`, [true, 9]],
  ['JSON, Intl and arithmetic', `const d = new Date(0); return [JSON.stringify(d), new Intl.DateTimeFormat('en', { timeZone: 'UTC' }).format(d), d - 0, d.toLocaleDateString('en', { timeZone: 'UTC' })]`, ['"1970-01-01T00:00:00.000Z"', '1/1/1970', 0, '1/1/1970']],
  ['a formatter has one format', `const f = new Intl.DateTimeFormat('en'); const g = new Intl.DateTimeFormat('en'); return [f.format === f.format, f.format === g.format, f.format.length, f.format.name]`, [true, false, 1, '']],
  ['a formatter as an argument of map', `return [0, 86400000].map(new Intl.DateTimeFormat('en', { timeZone: 'UTC' }).format)`, ['1/1/1970', '1/2/1970']],
  ['format belongs to formatters', `try { Intl.DateTimeFormat.prototype.format } catch (e) { return e.name }`, 'TypeError'],
  ['Temporal.Now accepts a zone, and refuses an invalid one', `const bad = ['Nowhere/X', 5, null].map((z) => { try { Temporal.Now.zonedDateTimeISO(z) } catch (e) { return e.name } }); return [Temporal.Now.zonedDateTimeISO('Asia/Tokyo').timeZoneId, Temporal.Now.zonedDateTimeISO().timeZoneId === Temporal.Now.timeZoneId(), ...bad]`, ['Asia/Tokyo', true, 'RangeError', 'TypeError', 'TypeError']],
  ['Temporal.Now keeps its shape', `return [Temporal.Now.instant.name, Temporal.Now.plainDateISO.length, Object.keys(Temporal.Now).length, String(Temporal.Now), Temporal.Now.instant() instanceof Temporal.Instant]`, ['instant', 0, 0, '[object Temporal.Now]', true]],
  ['the two clocks agree', `const d = Date.now() - (performance.timeOrigin + performance.now()); return [d, Date.now() > 1.7e12, performance.now() < 60000]`, [0, true, true]],
]

for (const mode of modes) {
  describe(`the clock of a sandbox, from ${mode === 'snapshot' ? 'a startup snapshot' : 'evaluated code'}`, () => {
    for (const [name, read] of clocks) {
      test(`${name} shows whole milliseconds and stands still while code runs`, async () => {
        const body = `const read = () => ${read}; const a = read(); ${work} const b = read(); ${work}; await null; await new Promise(queueMicrotask); return [Number.isInteger(a), b - a, read() - a]`
        assert.deepEqual(await run(platform, mode, body), [true, 0, 0])
      })
    }

    test('every clock advances while the process is idle', async () => {
      const body = `${wait} const read = () => [Date.now(), new Date().getTime(), performance.now(), Number(Temporal.Now.instant().epochMilliseconds)]
        const a = read(); await wait(100); const b = read(); return b.map((v, i) => v - a[i])`
      for (const ms of (await run(platform, mode, body)) as number[]) assert.ok(ms >= 80 && ms < 5_000, `${ms}`)
    })

    test('console.time measures waiting time and no computing time', async () => {
      const body = `${wait} console.time('a'); ${work} console.timeEnd('a'); console.time('b'); await wait(80); console.timeEnd('b')`
      const lines: string[] = []
      await run(platform, mode, `const log = console; ${body}`, undefined, (text) => lines.push(text))
      assert.equal(lines[0], 'a: 0 ms')
      assert.match(lines[1] ?? '', /^b: [6-9]\d ms$|^b: \d{3,} ms$/)
    })

    test('a script that replaces the built-ins of its clock keeps a right clock', async () => {
      const body = `const real = Date.now()
        WeakMap.prototype.get = () => 1; Reflect.apply = Reflect.construct = () => 1; Function.prototype.bind = () => 1
        Temporal.Instant.fromEpochMilliseconds = () => 1; Date.prototype.toString = () => 'x'
        return [Date.now() - real, new Date() - real, Date().length > 20, Temporal.Now.instant().epochMilliseconds - real]`
      assert.deepEqual(await run(platform, mode, body), [0, 0, true, 0])
    })

    for (const [name, body, expected] of language) {
      test(`Date follows the language: ${name}`, async () => {
        assert.deepEqual(await run(platform, mode, body), expected)
      })
    }
  })
}
