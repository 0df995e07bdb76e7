// tier: wall and torture (the attacks use every processor)
// Each attack is one line, so that it reads as a table.
// biome-ignore-all format: a case to a line
import { describeSiege, forCpu } from './siege.ts'

describeSiege('floods of what leaves the isolate', forCpu, [
  { name: 'log lines', script: `for (;;) console.log('x'.repeat(8000))`, again: true, ends: 'cpu_limit' },
  { name: 'host calls', script: `const all = []; for (let i = 0; i < 1e5; i++) all.push(fetch('http://127.0.0.1:4444/').catch(() => {})); await Promise.all(all)`, again: true, ends: 'cpu_limit' },
  { name: 'host calls one after the other', script: `for (let i = 0; i < 1e4; i++) await fetch('http://127.0.0.1:4444/').catch(() => {})`, again: true, ends: 'cpu_limit' },
  { name: 'host calls with the largest bodies', script: `for (let i = 0; i < 50; i++) fetch('http://127.0.0.1:4444/', { method: 'POST', body: new Uint8Array(9e6) }).catch(() => {}); await ms(100)`, again: true, ends: 'cpu_limit' },
  { name: 'host calls with an immediate abort', script: `for (let i = 0; i < 1e4; i++) { const c = new AbortController(); fetch('http://127.0.0.1:4444/', { signal: c.signal }).catch(() => {}); c.abort() } await ms(1)`, again: true, ends: 'cpu_limit' },
  { name: 'calls to itself', script: `const all = []; for (let i = 0; i < 300; i++) all.push(fetch(request.url).catch(() => {})); await Promise.all(all)`, ends: 'survived or wall_clock_limit or script_failed or cpu_limit or memory_limit or sandbox_died' },
  { name: 'timers', script: `for (let i = 0; i < 1e6; i++) setTimeout(() => {}, 1)`, again: true, ends: 'cpu_limit' },
  { name: 'intervals', script: `for (let i = 0; i < 900; i++) setInterval(() => {}, 0); await ms(900)`, again: true, ends: 'cpu_limit' },
  { name: 'timers that set timers', script: `const t = () => { setTimeout(t, 0) }; for (let i = 0; i < 900; i++) t(); await new Promise(() => {})`, again: true, ends: 'cpu_limit' },
  { name: 'rejections without a handler', script: `for (let i = 0; i < 1e6; i++) Promise.reject(new Error('x'))`, again: true, ends: 'cpu_limit' },
  { name: 'a rejection of millions of lines', script: `for (let i = 0; i < 3; i++) Promise.reject(new Error('\\n'.repeat(5e6)))`, again: true, ends: 'cpu_limit' },
  { name: 'a rejection that is no error', script: `for (const v of [Symbol('x'), () => {}, new Proxy({}, { get() { throw 1 } }), 1n, null, undefined, globalThis, new ArrayBuffer(8), Object.create(null)]) Promise.reject(v)`, ends: 'survived' },
  { name: 'digests', script: `for (let i = 0; i < 5000; i++) crypto.subtle.digest('SHA-512', new Uint8Array(1e5)).catch(() => {}); await ms(500)`, again: true, ends: 'cpu_limit' },
  { name: 'digests one after the other', script: `const b = new Uint8Array(9e6); for (;;) await crypto.subtle.digest('SHA-512', b)`, again: true, ends: 'cpu_limit' },
  { name: 'keys', script: `for (let i = 0; i < 100; i++) crypto.subtle.generateKey({ name: 'RSA-PSS', modulusLength: 4096, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' }, false, ['sign', 'verify']).catch(() => {}); await ms(500)`, again: true, ends: 'cpu_limit' },
  { name: 'posts from the bottom of the stack', script: `let n = 0; const f = () => { try { f() } finally { if (n++ < 3000) { console.log('x'); crypto.getRandomValues(new Uint8Array(8)) } } }; try { f() } catch {}`, again: true, ends: 'cpu_limit' },
  { name: 'a log line of a proxy that throws', script: `console.log(new Proxy({}, { ownKeys() { throw new Proxy({}, { get() { throw 1 } }) } })); console.error({ get a() { throw 1 } })`, ends: 'survived' },
  { name: 'everything is deleted', script: `for (const k of Reflect.ownKeys(globalThis)) delete (globalThis as any)[k]; return 'x'`, ends: 'script_failed' },
  { name: 'everything is frozen', script: `for (const k of Reflect.ownKeys(globalThis)) { try { Object.freeze((globalThis as any)[k].prototype); Object.freeze((globalThis as any)[k]) } catch {} }`, ends: 'survived' },
  { name: 'an answer of single bytes', script: `return new Response(new ReadableStream({ async pull(c) { await ms(1); for (let i = 0; i < 40; i++) c.enqueue(new Uint8Array(1)) } }))`, ends: 'SANDBOX_CPU_MS' },
  { name: 'log lines at load', atLoad: true, script: `for (;;) console.log('x'.repeat(8000))`, ends: 'cpu_limit or load_limit' },
  { name: 'host calls at load', atLoad: true, script: `const again = () => { fetch('http://127.0.0.1:4444/').catch(() => { for (let i = 0; i < 1900; i++) console.log('x'); again() }) }; again()`, ends: 'survived' },
  { name: 'a rejection of 20 kB at load', atLoad: true, script: `Promise.reject(new Error('x'.repeat(20_000)))`, ends: 'script_failed' },
  { name: 'an error of 20 kB at load', atLoad: true, script: `throw Object.assign(new Error('y'.repeat(20_000)), { name: 'z'.repeat(20_000) })`, ends: 'script_failed' },
  { name: 'the name of the definition is taken', atLoad: true, script: `Object.defineProperty(globalThis, '__annexDefine', { value: 1 })`, ends: 'survived' },
])
