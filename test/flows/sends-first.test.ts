import assert from 'node:assert/strict'
import { dirname, join } from 'node:path'
import { it } from 'node:test'
import { startHostUnderFaults } from '../support/host-under-faults.ts'
import { writePlugin } from '../support/plugin-folder.ts'

const script = `import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: async () => new Response('fine') })`

it('sends pending deliveries before plugins are loaded', async () => {
  // The first attempt is in flight when the host is killed.
  await using running = await startHostUnderFaults(
    () => ({}),
    () => {},
    200,
  )
  const { receiver } = running
  assert.equal((await running.publish('evt_pending')).status, 202)
  await receiver.waitFor(1)
  const plugins = Array.from({ length: 12 }, (_, n) => `more-${n}`)
  for (const name of plugins) writePlugin(join(dirname(running.dataDir), 'plugins'), name, { script })
  await running.restart()
  const [, sent] = await receiver.waitFor(2)
  const { url, atMs } = running.listening
  assert.ok(sent !== undefined && sent.atMs < atMs)
  assert.equal(await (await fetch(`${url}/x/${plugins.at(-1)}`)).text(), 'fine')
  await running.untilDelivered(['evt_pending'])
})
