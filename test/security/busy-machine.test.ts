import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readUsed } from '../bench/measure/cpu-time.ts'
import { type Json, startAnnex, until } from '../support/annex.ts'
import { startBusyLoops } from '../support/busy-loops.ts'

/** Some 130 ms of CPU time in one stretch: much of its share of a processor that nine tasks compete for. */
const honest = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: async () => {
    let sum = 0
    for (let n = 0; n < 1.3e8; n++) sum = (sum + n) | 0
    return new Response('sum ' + sum)
  },
})`

const looping = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: async () => { for (;;) {} } })`

/** The most that a loop may use: its limit of 1000 ms, as much again, and what happens around it. */
const endedWithinCpuMs = 4_000

describe('beside eight busy loops of other programs', () => {
  it('an honest script answers 200 each time, is not suspended, and a hostile one is ended', async () => {
    await using ends = new AsyncDisposableStack()
    const annex = await startAnnex({
      plugins: { honest: { script: honest }, looping: { script: looping } },
      flags: { SANDBOX_WALL_MS: '60000' },
    })
    ends.defer(annex.close)
    ends.use(await startBusyLoops(8))
    const ask = async (name: string) => {
      const response = await fetch(`${annex.url}/x/${name}`)
      return {
        status: response.status,
        text: await response.text(),
        id: response.headers.get('x-request-id'),
      }
    }
    for (let n = 0; n < 4; n++) {
      const { status, text } = await ask('honest')
      assert.equal(status, 200, text)
    }
    const ended = await ask('looping')
    assert.match(ended.text, /cpu_limit|wall_clock_limit/)
    const receipt = await until(
      async () => (await annex.api('GET', `/v1/receipts?request=${ended.id}`)).json.items[0] as Json,
      (found) => found !== undefined,
    )
    assert.ok(receipt.cpuMs < endedWithinCpuMs, `the loop used ${receipt.cpuMs} ms of CPU time`)
    assert.equal((await ask('honest')).status, 200)
    assert.equal((await annex.api('GET', '/v1/integrations/honest')).json.suspendedReason ?? null, null)
  })

  it('a receipt counts the CPU time that a script used, not the time that it waited', async () => {
    await using ends = new AsyncDisposableStack()
    const annex = await startAnnex({
      plugins: { honest: { script: honest } },
      flags: { SANDBOX_WALL_MS: '60000' },
    })
    ends.defer(annex.close)
    ends.use(await startBusyLoops(8))
    const pids = annex.server.sandboxes.processes().map(({ pid = 0 }) => pid)
    const usedBefore = pids.reduce((sum, pid) => sum + (readUsed(pid)?.cpuMs ?? 0), 0)
    const response = await fetch(`${annex.url}/x/honest`)
    assert.equal(response.status, 200, await response.text())
    const usedMs =
      annex.server.sandboxes.processes().reduce((sum, { pid = 0 }) => sum + (readUsed(pid)?.cpuMs ?? 0), 0) -
      usedBefore
    const [receipt] = await until(
      async () => (await annex.api('GET', '/v1/receipts')).json.items as Json[],
      (items) => items.length > 0,
    )
    // All of its process is more: it also loads the script.
    assert.ok(receipt.cpuMs <= usedMs + 20, `${receipt.cpuMs} ms of ${usedMs} ms`)
    assert.ok(receipt.cpuMs > 20, `${receipt.cpuMs} ms`)
  })
})
