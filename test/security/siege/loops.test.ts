// tier: wall and torture (the attacks use every processor)
// Each attack is one line, so that it reads as a table.
// biome-ignore-all format: a case to a line
import { describeSiege } from './siege.ts'

const cpu = ['cpu_limit']

describeSiege('loops, wherever the platform runs code of the script', [
  { name: 'in a handler', script: `for (;;) {}`, seen: cpu },
  { name: 'after an await', script: `await null; for (;;) {}`, seen: cpu },
  { name: 'after a timer', script: `await ms(1); for (;;) {}`, seen: cpu },
  { name: 'after a call', script: `await fetch('http://127.0.0.1:4444/').catch(() => {}); for (;;) {}`, seen: cpu },
  { name: 'of awaits', script: `while (true) await null`, seen: cpu },
  { name: 'of microtasks', script: `const again = () => queueMicrotask(again); again(); await ms(1)`, seen: cpu },
  { name: 'of an async generator', script: `for await (const x of (async function* () { for (;;) yield 1 })());`, seen: cpu },
  { name: 'in the return of a generator', script: `for (const x of { [Symbol.iterator]: () => ({ next: () => ({ value: 1 }), return() { for (;;) {} } }) }) break`, seen: cpu },
  { name: 'in toString of a header', script: `return new Response('x', { headers: { a: { toString() { for (;;) {} } } } })`, seen: cpu },
  { name: 'in valueOf of a status', script: `return new Response('x', { status: { valueOf() { for (;;) {} } } })`, seen: cpu },
  { name: 'in Symbol.toPrimitive of a URL', script: `new URL({ [Symbol.toPrimitive]() { for (;;) {} } })`, seen: cpu },
  { name: 'in toJSON of an argument', script: `Response.json({ toJSON() { for (;;) {} } })`, seen: cpu },
  { name: 'in a getter of an init', script: `new Request('https://a/', { get method() { for (;;) {} } })`, seen: cpu },
  { name: 'in a proxy that is cloned', script: `structuredClone(new Proxy({}, { ownKeys() { for (;;) {} } }))`, seen: cpu },
  { name: 'in a proxy that is logged', script: `console.log(new Proxy({}, { ownKeys() { for (;;) {} } }))`, seen: cpu },
  { name: 'in a proxy that is the answer', script: `return new Proxy(new Response('x'), { get() { for (;;) {} }, getPrototypeOf() { for (;;) {} } })`, seen: cpu },
  { name: 'in then of an answer', script: `return { then() { for (;;) {} } }`, seen: cpu },
  { name: 'in a then that everything has', script: `Object.defineProperty(Object.prototype, 'then', { configurable: true, get() { for (;;) {} } }); return new Response('x')`, seen: cpu },
  { name: 'in the species of a promise', script: `Object.defineProperty(Promise, Symbol.species, { get() { for (;;) {} } }); await ms(1); return Promise.resolve(1).then(() => 1)`, seen: cpu },
  { name: 'in prepareStackTrace', script: `Error.prepareStackTrace = () => { for (;;) {} }; throw new Error('x')`, seen: cpu },
  { name: 'in the stack of a rejection without a handler', script: `Promise.reject(Object.defineProperty(new Error('x'), 'stack', { get() { for (;;) {} } })); return 'x'`, seen: cpu },
  { name: 'in the message of a thrown error', script: `throw { get message() { for (;;) {} } }`, seen: cpu },
  { name: 'in an event listener', script: `const c = new AbortController(); c.signal.onabort = () => { for (;;) {} }; c.abort()`, seen: cpu },
  { name: 'in pull of an answer', script: `return new Response(new ReadableStream({ pull() { for (;;) {} } }))`, seen: cpu },
  { name: 'of empty chunks of an answer', script: `return new Response(new ReadableStream({ async pull(c) { c.enqueue(new Uint8Array(0)); await null } }))`, seen: ['SANDBOX_CPU_MS'] },
  { name: 'in a transform', script: `const t = new TransformStream({ transform() { for (;;) {} } }); t.writable.getWriter().write(1); await t.readable.getReader().read()`, seen: cpu },
  { name: 'of backtracking', script: `/(x+x+)+y/.exec('x'.repeat(5000))`, seen: cpu },
  { name: 'of one long native operation', script: `return String(3n ** 30000000n).length`, seen: [...cpu, 'memory_limit'] },
  { name: 'over an array without anything in it', script: `new Array(2 ** 32 - 2).indexOf(1, 5)`, seen: [...cpu, 'memory_limit'] },
  { name: 'in the sort of one', script: `const a = []; a.length = 2 ** 32 - 1; a[5] = 1; a.sort()`, seen: [...cpu, 'memory_limit'] },
  { name: 'never, and no answer either', script: `await new Promise(() => {})`, seen: ['wall_clock_limit'] },
  { name: 'in an import', atLoad: true, script: `for (;;) {}`, seen: ['script_failed', 'load_limit', ...cpu] },
  { name: 'at load, in microtasks', atLoad: true, script: `const again = () => queueMicrotask(again); again()`, seen: ['script_failed', 'load_limit', ...cpu] },
  { name: 'at load, in a then that everything has', atLoad: true, script: `Object.defineProperty(Object.prototype, 'then', { get() { for (;;) {} } })`, seen: ['script_failed', 'load_limit', ...cpu] },
])
