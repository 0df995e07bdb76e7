import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startHost } from '../support/host-process.ts'
import { shareBuilds } from '../support/kept-builds.ts'
import { writePlugin } from '../support/plugin-folder.ts'

it('Ctrl+C, which reaches all processes of a terminal, lets a script come to its end', async () => {
  await using ends = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'annex-ctrl-c-'))
  ends.defer(() => rmSync(folder, { recursive: true, force: true }))
  /** What the script waits for: it is in its sandbox when it has asked. */
  const asked = createServer().listen(0, '127.0.0.1')
  await once(asked, 'listening')
  ends.defer(() => void asked.close())
  const { port } = asked.address() as AddressInfo
  const [dataDir, pluginsDir] = [join(folder, 'data'), join(folder, 'plugins')]
  mkdirSync(pluginsDir)
  writePlugin(pluginsDir, 'waits', {
    script: `import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: async () => new Response(await (await fetch('http://127.0.0.1:${port}')).text()) })`,
  })
  shareBuilds(dataDir)
  const host = startHost({ dataDir, pluginsDir, ownGroup: true })
  ends.defer(host.kill)
  const { url } = await host.listening
  const answered = fetch(`${url}/x/waits`)
  const [, response]: [unknown, ServerResponse] = (await once(asked, 'request')) as never
  process.kill(-(host.child.pid as number), 'SIGINT')
  // Whoever ends by it has ended then.
  await sleep(500)
  response.end('in its own time')
  const answer = await answered
  assert.equal(await answer.text(), 'in its own time')
  assert.equal(answer.status, 200)
  assert.equal(await host.exited, 130)
})
