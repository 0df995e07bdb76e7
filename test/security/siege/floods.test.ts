// tier: wall and torture (the attacks use every processor)
// Each attack is one line, so that it reads as a table.
// biome-ignore-all format: a case to a line
import { describeSiege } from './siege.ts'

const over = ['cpu_limit', 'memory_limit']
const any = ['survived', 'wall_clock_limit', 'script_failed', ...over]

describeSiege('floods of what leaves the isolate', [
  { name: 'log lines', script: `for (;;) console.log('x'.repeat(8000))`, seen: [...over, 'wall_clock_limit'] },
  { name: 'host calls', script: `const all = []; for (let i = 0; i < 1e5; i++) all.push(fetch('http://127.0.0.1:4444/').catch(() => {})); await Promise.all(all)`, seen: any },
  { name: 'host calls one after the other', script: `for (let i = 0; i < 1e4; i++) await fetch('http://127.0.0.1:4444/').catch(() => {})`, seen: any },
  { name: 'host calls with the largest bodies', script: `for (let i = 0; i < 50; i++) fetch('http://127.0.0.1:4444/', { method: 'POST', body: new Uint8Array(9e6) }).catch(() => {}); await ms(100)`, seen: any },
  { name: 'host calls with an immediate abort', script: `for (let i = 0; i < 1e4; i++) { const c = new AbortController(); fetch('http://127.0.0.1:4444/', { signal: c.signal }).catch(() => {}); c.abort() } await ms(1)`, seen: any },
  { name: 'calls to itself', script: `const all = []; for (let i = 0; i < 300; i++) all.push(fetch(request.url).catch(() => {})); await Promise.all(all)`, seen: [...any, 'sandbox_died'] },
  { name: 'timers', script: `for (let i = 0; i < 1e6; i++) setTimeout(() => {}, 1)`, seen: any },
  { name: 'intervals', script: `for (let i = 0; i < 900; i++) setInterval(() => {}, 0); await ms(900)`, seen: any },
  { name: 'timers that set timers', script: `const t = () => { setTimeout(t, 0) }; for (let i = 0; i < 900; i++) t(); await new Promise(() => {})`, seen: ['wall_clock_limit', ...over] },
  { name: 'rejections without a handler', script: `for (let i = 0; i < 1e6; i++) Promise.reject(new Error('x'))`, seen: over },
  { name: 'a rejection of millions of lines', script: `for (let i = 0; i < 3; i++) Promise.reject(new Error('\\n'.repeat(5e6)))`, seen: ['survived', ...over] },
  { name: 'a rejection that is no error', script: `for (const v of [Symbol('x'), () => {}, new Proxy({}, { get() { throw 1 } }), 1n, null, undefined, globalThis, new ArrayBuffer(8), Object.create(null)]) Promise.reject(v)`, seen: ['survived'] },
  { name: 'digests', script: `for (let i = 0; i < 5000; i++) crypto.subtle.digest('SHA-512', new Uint8Array(1e5)).catch(() => {}); await ms(500)`, seen: any },
  { name: 'digests one after the other', script: `const b = new Uint8Array(9e6); for (;;) await crypto.subtle.digest('SHA-512', b)`, seen: [...over, 'wall_clock_limit', 'sandbox_died', 'script_failed'] },
  { name: 'keys', script: `for (let i = 0; i < 100; i++) crypto.subtle.generateKey({ name: 'RSA-PSS', modulusLength: 4096, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' }, false, ['sign', 'verify']).catch(() => {}); await ms(500)`, seen: any },
  { name: 'posts from the bottom of the stack', script: `let n = 0; const f = () => { try { f() } finally { if (n++ < 3000) { console.log('x'); crypto.getRandomValues(new Uint8Array(8)) } } }; try { f() } catch {}`, seen: ['survived', 'script_failed', ...over] },
  { name: 'a log line of a proxy that throws', script: `console.log(new Proxy({}, { ownKeys() { throw new Proxy({}, { get() { throw 1 } }) } })); console.error({ get a() { throw 1 } })`, seen: ['survived'] },
  { name: 'everything is deleted', script: `for (const k of Reflect.ownKeys(globalThis)) delete (globalThis as any)[k]; return 'x'`, seen: ['x', 'script_failed'] },
  { name: 'everything is frozen', script: `for (const k of Reflect.ownKeys(globalThis)) { try { Object.freeze((globalThis as any)[k].prototype); Object.freeze((globalThis as any)[k]) } catch {} }`, seen: ['survived'] },
  { name: 'an answer that never ends', script: `return new Response(new ReadableStream({ pull() { return new Promise(() => {}) } }))`, seen: ['SANDBOX_WALL_MS'] },
  { name: 'an answer of single bytes', script: `return new Response(new ReadableStream({ async pull(c) { await ms(1); for (let i = 0; i < 40; i++) c.enqueue(new Uint8Array(1)) } }))`, seen: ['SANDBOX_CPU_MS'] },
  { name: 'log lines at load', atLoad: true, script: `for (let i = 0; i < 1e5; i++) console.log('x'.repeat(8000))`, seen: ['survived', 'script_failed', ...over] },
  { name: 'host calls at load', atLoad: true, script: `const again = () => { fetch('http://127.0.0.1:4444/').catch(() => { for (let i = 0; i < 1900; i++) console.log('x'); again() }) }; again()`, seen: ['survived'] },
  { name: 'a rejection of 20 kB at load', atLoad: true, script: `Promise.reject(new Error('x'.repeat(20_000)))`, seen: ['script_failed'] },
  { name: 'an error of 20 kB at load', atLoad: true, script: `throw Object.assign(new Error('y'.repeat(20_000)), { name: 'z'.repeat(20_000) })`, seen: ['script_failed'] },
  { name: 'the name of the definition is taken', atLoad: true, script: `Object.defineProperty(globalThis, '__annexDefine', { value: 1 })`, seen: ['survived', 'script_failed'] },
])
