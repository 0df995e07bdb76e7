// tier: wall and torture (it measures the memory of a host under load)

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { installSample } from '../support/annex.ts'
import { type Listening, startHost } from '../support/host-process.ts'
import { shareBuilds } from '../support/kept-builds.ts'
import { writePlugin } from '../support/plugin-folder.ts'
import { startReceiver } from '../support/receiver.ts'
import { owe, senderPlugin } from '../support/sender.ts'
import { createTestDatabase } from '../support/test-database.ts'
import { roundsOf } from '../support/torture.ts'

const hog = `import { createIntegration } from '@annex/runtime'
const pad = 'x'.repeat(500_000)
export default createIntegration({
  fetch: async (request, { integration }) => {
    const { searchParams } = new URL(request.url)
    for (let n = 0; n < 40; n++) {
      const url = searchParams.get('url') + '/' + searchParams.get('from') + '-' + n
      await integration.queueDelivery({ url, event: { type: 'told', pad } })
    }
    return new Response('pending')
  },
})`

/** Of JavaScript: what a host has on a small machine. */
const heapMb = 192

it('large deliveries to silent receivers do not exhaust the host’s memory, also after a restart', {
  timeout: 600_000,
}, async () => {
  await using ends = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'annex-large-'))
  ends.defer(() => rmSync(folder, { recursive: true, force: true }))
  const [dataDir, pluginsDir] = [join(folder, 'data'), join(folder, 'plugins')]
  const tarpit = createServer((socket) => socket.on('error', () => {}).resume())
  await once(tarpit.listen(0, '127.0.0.1'), 'listening')
  ends.defer(() => void tarpit.close())
  const well = await startReceiver(200)
  ends.defer(well.close)
  const made = await createTestDatabase()
  ends.defer(made.drop)
  writePlugin(pluginsDir, 'hog', { script: hog })
  writePlugin(pluginsDir, 'sender', senderPlugin)
  shareBuilds(dataDir)
  const environment = {
    ...{ DATABASE_URL: made.url, NODE_OPTIONS: `--max-old-space-size=${heapMb}` },
    ...{ DELIVERY_TIMEOUT_MS: '60000', SANDBOX_CPU_MS: '20000' },
  }
  const start = () => startHost({ dataDir, pluginsDir, environment })
  let host = start()
  ends.defer(() => host.kill())
  let listening = await host.listening
  const install = async (integration: string) =>
    new URL((await installSample({ ...listening, server: listening }, integration)).endpoint).pathname
  const [hogs, others] = [await install('hog'), await install('sender')]
  const url = `http://127.0.0.1:${(tarpit.address() as AddressInfo).port}`
  const sendsToOthers = async () => {
    const before = well.received.length
    await owe(at(listening, others), { url: well.url })
    await Promise.race([well.waitFor(before + 1), host.exited.then(() => assert.fail('the host has ended'))])
  }
  for (let from = 0; from < roundsOf(4, 16); from++) {
    const answer = await fetch(`${at(listening, hogs)}?${new URLSearchParams({ url, from: String(from) })}`)
    assert.equal(await answer.text(), 'pending')
    await sendsToOthers()
  }
  await host.kill()
  host = start()
  listening = await host.listening
  for (let n = 0; n < 3; n++) await sendsToOthers()
  assert.equal(host.child.exitCode, null)
})

const at = ({ url }: Listening, path: string): string => `${url}${path}`
