import type { PluginSource } from '../support/plugin-folder.ts'

/** What the honest ones are asked for: the digest of what they are sent, after a pause, and what a receiver says. */
const honest = (receiver: string) => `
import { createIntegration } from '@annex/runtime'
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const toHex = (bytes) => [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
let served = 0
export default createIntegration({
  fetch: async (request, { waitUntil }) => {
    const { searchParams } = new URL(request.url)
    const digest = await crypto.subtle.digest('SHA-256', await request.arrayBuffer())
    await pause(2)
    const asked = searchParams.get('ask')
    const heard = asked === null ? null : await (await fetch('${receiver}/echo?' + asked)).text()
    waitUntil(pause(5).then(() => { served++ }))
    return Response.json({ digest: toHex(digest), heard })
  },
  events: {
    site_view: async (event, { integration }) => {
      await integration.queueDelivery({ url: '${receiver}/hook', event })
    },
  },
})`

/** Each attack is a path. What has to end a process, or be stopped, is what sandboxes are for. */
export const attacks = {
  // CPU
  loop: 'for (;;) {}',
  'loop-after-await': 'await null; for (;;) {}',
  'loop-after-timer': 'await pause(3); for (;;) {}',
  microtasks: 'const again = () => Promise.resolve().then(again); await again()',
  'slow-regexp': "/^(a+)+$/.test('a'.repeat(40) + 'b')",
  // Memory, in the heap and outside
  'growing-array': 'const all = []; for (;;) all.push(new Array(1e5).fill(all.length))',
  'growing-map': "const map = new Map(); for (let i = 0; ; i++) map.set(i, 'x'.repeat(1000) + i)",
  'growing-string': "let text = 'x'; for (;;) text += text + 'y'",
  buffers: 'const all = []; for (;;) all.push(new Uint8Array(1e8).fill(1))',
  intl: "const all = []; for (;;) all.push(new Intl.DateTimeFormat('en', { timeZone: 'UTC' }))",
  // One native operation, or the end of V8
  bigint: 'let n = 2n; for (;;) n = n * n',
  'bigint-text': 'String(7n ** 5_000_000n)',
  'sparse-json': 'JSON.stringify(new Array(1e9))',
  normalize: "for (;;) 'ü'.repeat(1e7).normalize('NFKD')",
  recursion: 'const deep = () => { try { deep() } finally { deep() } }; deep()',
  // Floods
  'log-flood': "for (let i = 0; i < 50_000; i++) console.log('flood ' + i)",
  'timer-flood': 'for (let i = 0; i < 20_000; i++) setTimeout(() => {}, 1); await pause(50)',
  'call-flood': "await Promise.allSettled(Array.from({ length: 2000 }, () => fetch(receiver + '/never')))",
  'task-flood':
    "await Promise.allSettled(Array.from({ length: 200 }, () => integration.queueTask({ task: { type: 'x' } })))",
  'random-flood': 'for (;;) crypto.getRandomValues(new Uint8Array(65536))',
  // What does not end
  never: 'await new Promise(() => {})',
  'endless-stream':
    'return new Response(new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(65536)) }))',
  'slow-stream':
    'return new Response(new ReadableStream({ pull: async (c) => { await pause(100); c.enqueue(new Uint8Array(10)) } }))',
  undead: 'const again = () => fetch(receiver).catch(() => {}).then(again); waitUntil(again())',
  'big-download': "return new Response(await (await fetch(receiver + '/big')).arrayBuffer())",
  'huge-answer': "return new Response('x'.repeat(12_000_000))",
} as const satisfies Record<string, string>

const hostile = (receiver: string) => `
import { createIntegration } from '@annex/runtime'
const receiver = '${receiver}'
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const attacks = {
${Object.entries(attacks)
  .map(([name, code]) => `  '${name}': async ({ integration, waitUntil }) => { ${code} },`)
  .join('\n')}
}
export default createIntegration({
  fetch: async (request, context) => {
    const result = await attacks[new URL(request.url).pathname.split('/').at(-1)](context)
    return result instanceof Response ? result : new Response('survived')
  },
  task: async () => { for (;;) {} },
})`

/** Never gets as far as to be asked. */
const bombAtLoad = `
import { createIntegration } from '@annex/runtime'
const all = []
for (;;) all.push(new Array(1e5).fill(all.length))
export default createIntegration({})`

export const honestNames = ['clerk', 'teller', 'courier', 'porter']
export const hostileNames = ['arsonist', 'burglar', 'crook', 'forger', 'thug', 'vandal']

/** Two of the honest ones are the operator's own; the others share their group with the hostile ones. */
export function soakPlugins(receiver: string): Record<string, PluginSource> {
  const strangers = { organization: 'strangers', scopes: ['site:views:read'] }
  const entries: [string, PluginSource][] = [
    ...honestNames.map((name, index): [string, PluginSource] => [
      name,
      { ...strangers, ...(index < 2 && { organization: 'home' }), script: honest(receiver) },
    ]),
    ...hostileNames.map((name): [string, PluginSource] => [
      name,
      { ...strangers, scopes: [], script: hostile(receiver) },
    ]),
    ['bomber', { ...strangers, scopes: [], script: bombAtLoad }],
  ]
  return Object.fromEntries(entries)
}
