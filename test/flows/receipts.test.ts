import assert from 'node:assert/strict'
import { it } from 'node:test'
import { installSample, type Json, startAnnex, until } from '../support/annex.ts'
import { startReceiver } from '../support/receiver.ts'

const script = (receiver: string) => `
import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: async (request) => {
  if (request.url.endsWith('/throw')) throw new Error('thrown')
  if (request.url.endsWith('/loop')) for (;;) {}
  if (request.url.endsWith('/never')) {
    for (let n = 0; n < 2e6; n++) Math.sqrt(n)
    await new Promise(() => {})
  }
  if (request.url.endsWith('/buffers')) for (const all = []; ; ) all.push(new Uint8Array(2e7))
  // One operation of V8 that nothing inside stops.
  if (request.url.endsWith('/native')) return new Response(String(2n ** 60_000_000n * 3n ** 30_000_000n).slice(0, 9))
  await (await fetch('${receiver}', { method: 'POST', body: 'x'.repeat(1000) })).text()
  return new Response('fine')
} })`

it('every dispatch has a receipt with its usage and outcome', async () => {
  const receiver = await startReceiver(200)
  const annex = await startAnnex({
    sandboxes: 'processes',
    plugins: { stats: { script: script(receiver.url) } },
    // The wall clock's is wide: of a script that computes it is the other one that counts, on a slow machine, too.
    flags: { SANDBOX_SPARE: 'true', SANDBOX_CPU_MS: '500', SANDBOX_WALL_MS: '5000' },
  })
  try {
    const { id, endpoint } = await installSample(annex, 'stats')
    const receiptOf = async (path: string): Promise<Json> => {
      const response = await fetch(endpoint + path)
      await response.text()
      const { json } = await until(
        () => annex.api('GET', `/v1/receipts?request=${response.headers.get('x-request-id')}`),
        (answer) => answer.json.count > 0,
      )
      assert.equal(json.count, 1)
      return json.items[0]
    }
    const fine = await receiptOf('')
    assert.deepEqual([fine.type, fine.outcome, fine.installation], ['fetch', 'ok', id])
    assert.deepEqual([fine.egressCalls, fine.hostCalls], [1, 1])
    assert.ok(fine.egressBytes >= 1_000 && fine.wallMs > 0 && fine.heapBytes > 0, JSON.stringify(fine))
    const { json: whole } = await annex.api('GET', `/v1/receipts/${fine.id}`)
    assert.deepEqual(
      whole.outboundRequests.map(({ method, host, path, status }: Json) => [method, host, path, status]),
      [['POST', new URL(receiver.url).host, '/hook', 200]],
    )
    assert.equal((await receiptOf('/throw')).outcome, 'script_error')
    const never = await receiptOf('/never')
    assert.equal(never.outcome, 'wall_clock_limit')
    assert.ok(never.wallMs >= 4_900 && never.cpuMs > 0 && never.heapBytes > 0, JSON.stringify(never))
    const buffers = await receiptOf('/buffers')
    assert.equal(buffers.outcome, 'memory_limit')
    const { text } = await annex.api('GET', '/v1/logs?integration=stats&limit=50')
    assert.match(text, /more than 64 MB of heap \(SANDBOX_HEAP_MB\)/)
    assert.match(text, /Array buffer allocation failed.*index\.ts:\d+:\d+/s)
    // Last: what keeps its process busy has to be content with less of the machine from then on.
    // A busy machine may end them, or the host does, which has not seen the heap.
    for (const path of ['/loop', '/native']) {
      const endless = await receiptOf(path)
      assert.match(endless.outcome, /^(cpu_limit|machine_busy|wall_clock_limit)$/)
      if (endless.outcome === 'cpu_limit') assert.ok(endless.cpuMs >= 200, JSON.stringify(endless))
    }
    const { json } = await annex.api('GET', `/v1/usage?installation=${id}&by=day`)
    assert.ok(json.items[0].dispatches >= 4 && json.items[0].failed === 5, JSON.stringify(json))
  } finally {
    await annex.close()
    await receiver.close()
  }
})
