// tier: wall (its attacks use every processor)

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type Annex, type Json, startAnnex, until } from '../support/annex.ts'
import { behindFuse, lightFuses } from '../support/fuse.ts'

/** Attacks on what sandboxes share: their process, and the host's patience. */
const attacker = `
import { createIntegration } from '@annex/runtime'
const ms = (time) => new Promise((resolve) => setTimeout(resolve, time))
const busy = (time) => { const end = Date.now() + time; while (Date.now() < end) {} }
const attacks = {
  // Uses up the stack, and posts while it unwinds: the process once wrote to its socket with no stack left.
  'deep-post': async () => {
    await ms(5)
    let n = 0
    const deep = () => { try { deep() } catch {} if (n++ < 1500) console.log('x') }
    deep()
  },
  // Goes on after its answer, with refused calls to wake it.
  'undead': async () => {
    const again = () => fetch('http://127.0.0.1:1/').catch(() => { busy(450); again() })
    again()
  },
  'many-headers': () => new Response('', { headers: Array.from({ length: 1001 }, (_, n) => ['x-' + n, 'y']) }),
  'long-header': () => new Response('', { headers: { x: 'y'.repeat(70_000) } }),
  'long-status': () => new Response('', { statusText: 'z'.repeat(2000) }),
}
export default createIntegration({
  fetch: async (request) => (await attacks[new URL(request.url).pathname.split('/').at(-1)]()) ?? new Response('done'),
})`

const honest = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: async () => new Response('fine') })`

const bombAtLoad = `
import { createIntegration } from '@annex/runtime'
${behindFuse('const sparse = []; sparse.length = 2 ** 32 - 1; sparse[5] = 1; sparse.sort()')}
export default createIntegration({})`

describe('a neighbour in the same sandbox process', () => {
  let annex: Annex
  const dataDir = mkdtempSync(join(tmpdir(), 'annex-shared-'))
  before(async () => {
    const plugins = {
      attacker: { script: attacker },
      undead: { script: attacker },
      bomb: { script: bombAtLoad },
      honest: { script: honest },
    }
    await (await startAnnex({ sandboxes: 'processes', dataDir, plugins })).close()
    lightFuses(dataDir)
    const flags = {
      SANDBOX_SPARE: 'true',
      SANDBOX_CPU_MS: '500',
      SANDBOX_LOAD_MS: '300',
      SANDBOX_WALL_MS: '60000',
    }
    annex = await startAnnex({ sandboxes: 'processes', dataDir, plugins, flags })
  })
  after(async () => {
    await annex.close()
    rmSync(dataDir, { recursive: true, force: true })
  })

  const pid = () => annex.server.sandboxes.processes().find(({ slot }) => slot === 'operator#0')?.pid
  const neighbour = async (): Promise<{ status: number; ms: number }> => {
    const started = performance.now()
    const { status } = await fetch(`${annex.url}/x/honest`)
    return { status, ms: performance.now() - started }
  }

  it('is answered after a script posted from the bottom of its stack', async () => {
    await fetch(`${annex.url}/x/attacker/deep-post`)
    for (let i = 0; i < 5; i++) assert.equal((await neighbour()).status, 200)
  })

  it('is not slowed down by work after an answer', async () => {
    await fetch(`${annex.url}/x/undead/undead`)
    await new Promise((resolve) => setTimeout(resolve, 700))
    for (let i = 0; i < 10; i++) {
      const { status, ms } = await neighbour()
      assert.equal(status, 200)
      assert.ok(ms < 20_000, `${ms} ms`)
    }
  })

  for (const name of ['many-headers', 'long-header', 'long-status']) {
    it(`keeps its process when a script gives an oversized answer: ${name}`, async () => {
      const before = pid()
      const response = await fetch(`${annex.url}/x/attacker/${name}`)
      assert.equal(response.status, 500)
      assert.equal((await neighbour()).status, 200)
      assert.equal(pid(), before)
      const logs = await annex.api('GET', `/v1/logs?request=${response.headers.get('x-request-id')}`)
      assert.match(logs.json.items[0].text, /^TypeError: A (response|header|statusText) has at most/)
    })
  }

  it('is answered again once a script that ended its process at load is suspended', async () => {
    await neighbour()
    const before = pid()
    const first = await fetch(`${annex.url}/x/bomb`)
    // The host ends the process, or V8 does so first where the host is late.
    assert.ok([502, 503].includes(first.status), `${first.status}`)
    assert.notEqual(pid(), before, 'the process has ended')
    const codes: string[] = []
    while (codes.length < 10 && codes.at(-1) !== 'installation_suspended') {
      const { error }: Json = await (await fetch(`${annex.url}/x/bomb`)).json()
      codes.push(error.code)
    }
    assert.equal(codes.at(-1), 'installation_suspended', codes.join())
    // A process that lived for less than a second is started again with the next request only.
    await until(neighbour, ({ status }) => status === 200)
    const shared = pid()
    assert.ok(shared !== undefined)
    await fetch(`${annex.url}/x/bomb`)
    assert.equal((await neighbour()).status, 200)
    assert.equal(pid(), shared, 'the shared process lives on')
  })
})
