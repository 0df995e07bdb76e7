import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Json, startAnnex } from '../support/annex.ts'

const looping = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: async () => { for (;;) {} } })`

describe('a script that is ended', () => {
  it('has the limit named in its log, for whoever wrote it', async () => {
    const annex = await startAnnex({
      plugins: { looping: { script: looping } },
      flags: { SANDBOX_CPU_MS: '500' },
    })
    try {
      const response = await fetch(`${annex.url}/x/looping`)
      const logs = await annex.api('GET', `/v1/logs?request=${response.headers.get('x-request-id')}`)
      assert.match(logs.json.items[0].text, /500 ms of CPU time \(SANDBOX_CPU_MS\)/)
    } finally {
      await annex.close()
    }
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
