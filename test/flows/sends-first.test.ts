import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { it } from 'node:test'
import { startHostUnderFaults } from '../support/host-under-faults.ts'
import { writePlugin } from '../support/plugin-folder.ts'

const honest = `import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: async () => new Response('fine') })`

it('a start sends what is owed while it still loads plugins, and who asks meanwhile waits', async () => {
  const port = await freePort()
  // The first attempt is under way when the host is killed.
  await using running = await startHostUnderFaults(
    () => ({ PORT: String(port) }),
    () => {},
    200,
  )
  const { receiver } = running
  assert.equal((await running.publish('evt_owed')).status, 202)
  await receiver.waitFor(1)
  const plugins = Array.from({ length: 30 }, (_, n) => `more-${n}`)
  for (const name of plugins) writePlugin(join(dirname(running.dataDir), 'plugins'), name, { script: honest })
  const restarted = running.restart()
  const [, sent] = await receiver.waitFor(2)
  const answer = fetch(`http://127.0.0.1:${port}/x/${plugins.at(-1)}`)
  await restarted
  assert.ok(sent !== undefined && sent.atMs < running.listening.atMs)
  assert.equal(await (await answer).text(), 'fine')
  await running.untilDelivered(['evt_owed'])
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
