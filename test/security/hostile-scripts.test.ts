import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Annex, type Json, startAnnex } from '../support/annex.ts'

/** Each attack is a path of one integration; a neighbour in the same process goes on answering meanwhile. */
const attacker = `
import { createIntegration } from '@annex/runtime'
const attacks = {
  'loop': () => { for (;;) {} },
  'loop-after-await': async () => { await fetch('data:,x').catch(() => {}); await null; for (;;) {} },
  'loop-after-timer': async () => { await new Promise((resolve) => setTimeout(resolve, 1)); for (;;) {} },
  'microtasks': async () => { const again = () => Promise.resolve().then(again); await again() },
  'growing-array': () => { const all = []; for (;;) all.push(new Array(1e5).fill(all.length)) },
  'growing-map': () => { const map = new Map(); for (let i = 0; ; i++) map.set(i, 'x'.repeat(1000) + i) },
  'growing-bigint': () => { let n = 2n; for (;;) n = n * n },
  'sparse-json': () => JSON.stringify(new Array(1e9)),
  'buffers': () => { const all = []; for (;;) all.push(new Uint8Array(1e8).fill(1)) },
  'intl': () => { const all = []; for (let i = 0; ; i++) all.push(new Intl.DateTimeFormat('en', { timeZone: 'UTC', hour12: i % 2 === 0 })) },
  'never': () => new Promise(() => {}),
  'huge-answer': () => new Response('x'.repeat(12_000_000)),
}
export default createIntegration({
  fetch: async (request) => {
    const name = new URL(request.url).pathname.split('/').at(-1)
    const result = await attacks[name]()
    return result instanceof Response ? result : new Response('survived')
  },
})`

const honest = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: async () => new Response('fine') })`

const attacks: [name: string, statuses: number[], codes: string[]][] = [
  ['loop', [503], ['cpu_limit']],
  ['loop-after-await', [503], ['cpu_limit']],
  ['loop-after-timer', [503], ['cpu_limit']],
  ['microtasks', [503, 502], ['cpu_limit', 'sandbox_died', 'memory_limit']],
  ['growing-array', [503], ['memory_limit', 'cpu_limit']],
  ['growing-map', [503], ['memory_limit', 'cpu_limit']],
  ['growing-bigint', [503], ['memory_limit', 'cpu_limit']],
  ['sparse-json', [503, 500], ['memory_limit', 'cpu_limit', 'script_failed']],
  ['buffers', [503, 500], ['memory_limit', 'cpu_limit', 'script_failed']],
  ['intl', [503], ['memory_limit', 'cpu_limit']],
  ['never', [504], ['wall_clock_limit']],
  ['huge-answer', [503], ['answer_too_large']],
]

describe('while one installation runs a hostile script, its neighbour goes on answering', () => {
  let annex: Annex
  before(async () => {
    annex = await startAnnex({
      plugins: { attacker: { script: attacker }, honest: { script: honest } },
      flags: {
        SANDBOX_CPU_MS: '500',
        SANDBOX_WALL_MS: '3000',
        SANDBOX_RESIDENT_MB: '512',
        SANDBOX_HEAP_MB: '64',
        SANDBOX_BODY_BYTES: '10485760',
      },
    })
  })
  after(() => annex.close())

  for (const [name, statuses, codes] of attacks) {
    it(`${name}: ends with ${codes.join(' or ')}`, async () => {
      const attack = fetch(`${annex.url}/x/attacker/${name}`)
      const neighbour = answersOf(`${annex.url}/x/honest`, attack)
      const response = await attack
      const { error }: Json = await response.json()
      assert.ok(statuses.includes(response.status), `${response.status} ${JSON.stringify(error)}`)
      assert.ok(codes.includes(error.code), error.code)
      assert.doesNotMatch(error.message, /node_modules|\.ts:|0x/)
      const { statuses: seen, slowestMs } = await neighbour
      assert.deepEqual(new Set(seen), new Set([200]), `of ${seen.length} requests`)
      assert.ok(slowestMs < 5_000, `the slowest took ${slowestMs} ms`)
      assert.equal(await (await fetch(`${annex.url}/x/honest`)).text(), 'fine')
    })
  }

  it('the host’s log names the limit, for whoever wrote the script', async () => {
    const response = await fetch(`${annex.url}/x/attacker/loop`)
    const logs = await annex.api('GET', `/v1/logs?request=${response.headers.get('x-request-id')}`)
    assert.match(logs.json.items[0].text, /500 ms of CPU time \(SANDBOX_CPU_MS\)/)
  })
})

describe('a sandbox process that is killed', () => {
  it('is replaced; the request that it had begun gets a 502, and the next ones are answered', async () => {
    const slow = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: async (request) => {
    if (request.url.endsWith('/wait')) await new Promise((resolve) => setTimeout(resolve, 20_000))
    return new Response('fine')
  },
})`
    const annex = await startAnnex({ plugins: { slow: { script: slow } } })
    try {
      assert.equal(await (await fetch(`${annex.url}/x/slow`)).text(), 'fine')
      const waiting = fetch(`${annex.url}/x/slow/wait`)
      await new Promise((resolve) => setTimeout(resolve, 300))
      const [running] = annex.server.sandboxes.processes()
      process.kill(running?.pid ?? 0, 'SIGKILL')
      const cut = await waiting
      assert.equal(cut.status, 502)
      assert.equal(((await cut.json()) as Json).error.code, 'sandbox_died')
      assert.equal(await (await fetch(`${annex.url}/x/slow`)).text(), 'fine')
      assert.notEqual(annex.server.sandboxes.processes()[0]?.pid, running?.pid)
    } finally {
      await annex.close()
    }
  })
})

/** Asks a neighbour again and again until something is over. */
async function answersOf(
  url: string,
  over: Promise<unknown>,
): Promise<{ statuses: number[]; slowestMs: number }> {
  let isOver = false
  over.finally(() => {
    isOver = true
  })
  const statuses: number[] = []
  let slowestMs = 0
  while (!isOver) {
    const started = performance.now()
    const response = await fetch(url)
    await response.text()
    statuses.push(response.status)
    slowestMs = Math.max(slowestMs, performance.now() - started)
  }
  return { statuses, slowestMs }
}
