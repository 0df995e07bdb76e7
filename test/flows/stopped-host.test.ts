import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { installSample, type Json, request, startAnnex, until } from '../support/annex.ts'
import { startAnnexProcess } from '../support/annex-process.ts'
import { writePlugin } from '../support/plugin-folder.ts'
import { startReceiver } from '../support/receiver.ts'

const script = (receiver: string) => `
import { createIntegration } from '@annex/runtime'
export default createIntegration({
  fetch: async (_request, { integration }) =>
    Response.json(await integration.queueDelivery({ url: '${receiver}', event: { type: 'told' } })),
})`

it('a host that is paused for four seconds repeats no answered delivery', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'annex-stopped-'))
  context.after(() => rmSync(folder, { recursive: true, force: true }))
  const dataDir = join(folder, 'data')
  const pluginsDir = join(folder, 'plugins')
  let asked: ServerResponse | undefined
  const receiver = await startReceiver((response) => {
    asked = response
  }, 200)
  context.after(receiver.close)
  writePlugin(pluginsDir, 'teller', { script: script(receiver.url) })
  const prepared = await startAnnex({ dataDir, pluginsDir })
  const { endpoint } = await installSample(prepared, 'teller')
  await prepared.close()

  const host = await startAnnexProcess(dataDir, pluginsDir, { DELIVERY_TIMEOUT_MS: '2000' })
  context.after(async () => {
    host.child.kill('SIGCONT')
    host.child.kill('SIGTERM')
    await host.exited
  })
  const queued = await fetch(host.url + new URL(endpoint).pathname)
  assert.equal(queued.status, 200)
  await receiver.waitFor(1)
  host.child.kill('SIGSTOP')
  await setTimeout(200)
  asked?.end('taken')
  await setTimeout(4_000)
  host.child.kill('SIGCONT')
  const { json } = await until(
    () => request(host.url, 'GET', '/v1/deliveries', undefined, host.token),
    ({ json }) => json.items[0]?.attempts > 0,
  )
  const [delivery] = json.items as Json[]
  assert.deepEqual([delivery.state, delivery.attempts], ['delivered', 1])
  assert.equal(receiver.received.length, 1)
})
