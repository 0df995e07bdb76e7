// tier: wall (its loops use every processor)

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { readUsed } from '../bench/measure/cpu-time.ts'
import { type Annex, installSample, type Json, startAnnex, until } from '../support/annex.ts'
import { startBusyLoops } from '../support/busy-loops.ts'
import { spin } from '../support/spin.ts'

/** Much for one of nine tasks that share a processor. After more than 100 ms it would run alone, and after all others. */
const honest = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: async () => new Response('sum ' + ${spin(70)}),
})`

/** 1200 ms of CPU time to load, of 2000. */
const heavy = `
import { createIntegration } from '@annex/runtime'
globalThis.sum = ${spin(1200)}
export default createIntegration({ fetch: async () => new Response('loaded') })`

/** 400 ms of CPU time for an answer, of 1200. */
const banner = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: async () => new Response('loaded'),
  fetch_published_script: async () =>
    new Response('/* sum ' + ${spin(400)} + ' */', { headers: { 'content-type': 'text/javascript' } }),
})`

const looping = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: async () => { for (;;) {} } })`

/** The most that a loop may use: its limit of 1000 ms, as much again, and what happens around it. */
const endedWithinCpuMs = 4_000

describe('beside eight busy loops of other programs', () => {
  const ends = new AsyncDisposableStack()
  let annex: Annex
  before(async () => {
    annex = await startAnnex({
      sandboxes: 'processes',
      plugins: { honest: { script: honest }, looping: { script: looping } },
      flags: { SANDBOX_SPARE: 'true', SANDBOX_WALL_MS: '60000' },
    })
    ends.defer(annex.close)
    ends.use(await startBusyLoops(8))
  })
  after(() => ends.disposeAsync())

  const ask = async (name: string) => {
    const response = await fetch(`${annex.url}/x/${name}`)
    return {
      status: response.status,
      text: await response.text(),
      id: response.headers.get('x-request-id'),
    }
  }
  const receiptOf = ({ id }: Awaited<ReturnType<typeof ask>>): Promise<Json> =>
    until(
      async () => (await annex.api('GET', `/v1/receipts?request=${id}`)).json.items[0],
      (found) => found !== undefined,
    )
  const usedMs = () =>
    annex.server.sandboxes.processes().reduce((sum, { pid = 0 }) => sum + (readUsed(pid)?.cpuMs ?? 0), 0)

  it('a receipt counts the CPU time that a script used, not the time that it waited', async () => {
    const before = usedMs()
    const answer = await ask('honest')
    assert.equal(answer.status, 200, answer.text)
    const used = usedMs() - before
    const receipt = await receiptOf(answer)
    // All of its process is more: it also loads the script.
    assert.ok(receipt.cpuMs <= used + 20, `${receipt.cpuMs} ms of ${used} ms`)
    assert.ok(receipt.cpuMs > 20, `${receipt.cpuMs} ms`)
  })

  it('an honest script is answered and never suspended, while a hostile one is ended', async () => {
    for (let n = 0; n < 3; n++) {
      const { status, text } = await ask('honest')
      assert.equal(status, 200, text)
    }
    const ended = await ask('looping')
    assert.match(ended.text, /cpu_limit|machine_busy|wall_clock_limit/)
    const receipt = await receiptOf(ended)
    assert.ok(receipt.cpuMs < endedWithinCpuMs, `the loop used ${receipt.cpuMs} ms of CPU time`)
    assert.equal((await ask('honest')).status, 200)
    const { status, json } = await annex.api('GET', '/v1/integrations/honest')
    assert.deepEqual([status, json.suspension], [200, undefined])
  })
})

it('a script that gets no processor while it is loaded is loaded again', async () => {
  const annex = await startAnnex({
    sandboxes: 'processes',
    plugins: { heavy: { script: heavy } },
    flags: { SANDBOX_SPARE: 'true', SANDBOX_LOAD_MS: '2000', SANDBOX_WALL_MS: '60000' },
  })
  try {
    const answer = fetch(`${annex.url}/x/heavy`)
    await starve(annex, { afterMs: 300, stoppedMs: 4_000 })
    assert.equal(await (await answer).text(), 'loaded')
  } finally {
    await annex.close()
  }
})

it('a script that gets no processor while it answers gets a 503 with a Retry-After of one second', async () => {
  const scopes = ['site:script:inject']
  const annex = await startAnnex({
    sandboxes: 'processes',
    plugins: { banner: { script: banner, scopes } },
    flags: { SANDBOX_SPARE: 'true', SANDBOX_CPU_MS: '1200', SANDBOX_WALL_MS: '60000' },
  })
  try {
    const { path } = await installSample(annex, 'banner', 'site')
    await until(
      () => annex.api('GET', path),
      ({ json }) => json.status === 'active',
    )
    const loaded = await fetch(`${annex.url}/x/banner`)
    assert.equal(await loaded.text(), 'loaded')
    const ask = () => fetch(`${annex.url}${path}/script`)
    const answer = ask()
    // A script may run as many times its CPU time as the machine was slower before: 45 s are more on any machine.
    await starve(annex, { afterMs: 100, stoppedMs: 45_000 })
    const refused = await answer
    const { error } = (await refused.json()) as Json
    assert.deepEqual([refused.status, error.code], [503, 'machine_busy'], error.message)
    assert.equal(refused.headers.get('retry-after'), '1')
    // Beside other programs the next one may come too late again.
    const answered = await until(ask, ({ status, headers }) => {
      assert.ok(status === 200 || headers.get('retry-after') === '1', `status ${status}`)
      return status === 200
    })
    assert.match(await answered.text(), /^\/\* sum/)
  } finally {
    await annex.close()
  }
})

/**
 * Stops the process of the operator's scripts when one of them has computed for a while. Beside other programs a script may take many
 * times as long by the wall clock.
 */
async function starve(
  { server }: Annex,
  { afterMs, stoppedMs }: { afterMs: number; stoppedMs: number },
): Promise<void> {
  const running = await until(
    async () => server.sandboxes.processes().find(({ slot }) => slot === 'operator#0'),
    (found) => found !== undefined,
  )
  const pid = running?.pid ?? 0
  const { cpuMs = 0 } = readUsed(pid) ?? {}
  await until(
    async () => readUsed(pid)?.cpuMs ?? 0,
    (usedMs) => usedMs > cpuMs + afterMs,
  )
  process.kill(pid, 'SIGSTOP')
  await sleep(stoppedMs)
  if (readUsed(pid) !== undefined) process.kill(pid, 'SIGCONT')
}
