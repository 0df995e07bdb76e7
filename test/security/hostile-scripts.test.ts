import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { readUsed } from '../bench/measure/cpu-time.ts'
import { type Json, startAnnex, until } from '../support/annex.ts'
import { spin } from '../support/spin.ts'

const looping = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: async () => { for (;;) {} } })`

describe('a script that exceeds its CPU limit', () => {
  it('finds the limit in its log', async () => {
    const annex = await startAnnex({
      sandboxes: 'processes',
      plugins: { looping: { script: looping } },
      flags: { SANDBOX_CPU_MS: '500' },
    })
    try {
      const response = await fetch(`${annex.url}/x/looping`)
      const logs = await annex.api('GET', `/v1/logs?request=${response.headers.get('x-request-id')}`)
      assert.match(logs.json.items[0].text, /500 ms of CPU time \(SANDBOX_CPU_MS\)|The machine is too busy/)
    } finally {
      await annex.close()
    }
  })
})

describe('a sandbox process that is killed', () => {
  it('is replaced: its running request gets a 502, and the next one is answered', async () => {
    const slow = `
import { createIntegration } from '@annex/runtime'
let answer = 'fine'
export default createIntegration({
  fetch: async (request) => {
    if (request.url.endsWith('/wait')) {
      answer = 'begun'
      await new Promise((resolve) => setTimeout(resolve, 20_000))
    }
    return new Response(answer)
  },
})`
    const annex = await startAnnex({ sandboxes: 'processes', plugins: { slow: { script: slow } } })
    try {
      const ask = async () => (await fetch(`${annex.url}/x/slow`)).text()
      assert.equal(await ask(), 'fine')
      const waiting = fetch(`${annex.url}/x/slow/wait`)
      await until(ask, (answer) => answer === 'begun')
      const [running] = annex.server.sandboxes.processes()
      process.kill(running?.pid ?? 0, 'SIGKILL')
      const cut = await waiting
      assert.equal(cut.status, 502)
      assert.equal(((await cut.json()) as Json).error.code, 'sandbox_died')
      assert.equal(await ask(), 'fine')
      assert.notEqual(annex.server.sandboxes.processes()[0]?.pid, running?.pid)
    } finally {
      await annex.close()
    }
  })

  it('loses no dispatch that it had not begun: another process runs these', async () => {
    const busy = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: async (request) => {
    if (request.url.endsWith('/spin')) ${spin(3000)}
    return new Response('fine')
  },
})`
    const flags = {
      SANDBOX_SPARE: 'true',
      SANDBOX_CPU_MS: '20000',
      SANDBOX_LOAD_MS: '20000',
      SANDBOX_WALL_MS: '20000',
    }
    const annex = await startAnnex({ sandboxes: 'processes', plugins: { busy: { script: busy } }, flags })
    try {
      assert.equal(await (await fetch(`${annex.url}/x/busy`)).text(), 'fine')
      const pid = annex.server.sandboxes.processes()[0]?.pid ?? 0
      const { cpuMs = 0 } = readUsed(pid) ?? {}
      const { port } = new URL(annex.url)
      const paths = ['/x/busy/spin', '/x/busy/1', '/x/busy/2', '/x/busy/3']
      const visitors = await Promise.all(paths.map(() => openVisitor(Number(port))))
      // In one turn: they reach the process in one piece.
      const answers = Promise.all(visitors.map((ask, n) => ask(paths[n] ?? '')))
      await sleep(500)
      // Kills the process while the script spins. Where /proc cannot be read, the sleep was long enough.
      await until(
        async () => readUsed(pid),
        (used) => used === undefined || used.cpuMs > cpuMs + 300,
      )
      process.kill(pid, 'SIGKILL')
      const [begun, ...others] = await answers
      assert.ok((begun?.status ?? 0) >= 500, begun?.text ?? 'nothing')
      assert.deepEqual(
        others.map(({ status }) => status),
        [200, 200, 200],
        others.map(({ text }) => text).join('\n'),
      )
    } finally {
      await annex.close()
    }
  })
})

type Heard = { status: number; text: string }

/** A visitor with an open connection. @returns asks for a path, and gives the answer */
async function openVisitor(port: number): Promise<(path: string) => Promise<Heard>> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  return async (path) => {
    socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`)
    const chunks: Buffer[] = []
    for await (const chunk of socket) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString()
    return { status: Number(text.slice(9, 12)), text }
  }
}
