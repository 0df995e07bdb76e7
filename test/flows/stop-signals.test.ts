import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { drainMs } from '../../host/http/listen.ts'
import { startHost } from '../support/host-process.ts'
import { shareBuilds } from '../support/kept-builds.ts'
import { writePlugin } from '../support/plugin-folder.ts'

const atOnce = 4

/** The process and all that have come of it. */
function familyOf(pid: number): number[] {
  const children = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && parentOf(name) === pid)
  return [pid, ...children.flatMap((child) => familyOf(Number(child)))]
}

function parentOf(pid: string): number {
  try {
    return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\)/s, '').trim().split(' ')[1])
  } catch {
    return 0
  }
}

const stops = [
  {
    name: 'Ctrl+C on a terminal, for all its processes',
    code: 130,
    send: (pid: number) => process.kill(-pid, 'SIGINT'),
  },
  {
    name: 'SIGTERM to all processes, as systemd sends it',
    code: 143,
    send: (pid: number) => {
      const all = familyOf(pid)
      assert.ok(all.length > 2, 'the host and sandbox processes')
      for (const one of all) process.kill(one, 'SIGTERM')
    },
  },
]

for (const { name, code, send } of stops) {
  it(`${name}, lets running scripts end`, async () => {
    while (!(await stopBesideScripts(code, send))) {
      // The machine was too slow to tell.
    }
  })
}

/**
 * Stops a host while scripts run in it.
 *
 * @returns false when the machine took longer than the host waits for its requests: it closes their connections then
 */
async function stopBesideScripts(code: number, send: (pid: number) => void): Promise<boolean> {
  await using ends = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'annex-stop-'))
  ends.defer(() => rmSync(folder, { recursive: true, force: true }))
  /** Scripts wait for its answers: they are in their sandboxes when they have asked. */
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
  const waiting: ServerResponse[] = []
  const { promise: allAsk, resolve } = Promise.withResolvers<void>()
  asked.on('request', (_request, response) => {
    if (waiting.push(response) === atOnce) resolve()
  })
  const answered = Array.from({ length: atOnce }, async () => {
    const answer = await fetch(`${url}/x/waits`)
    return `${answer.status} ${await answer.text()}`
  })
  await allAsk
  const sentMs = performance.now()
  send(host.child.pid as number)
  // A process that the signal ends has ended after this time.
  await sleep(500)
  for (const response of waiting) response.end('in its own time')
  const answers = await Promise.allSettled(answered)
  const isLate = performance.now() - sentMs >= drainMs
  if (isLate && answers.some(({ status }) => status === 'rejected')) return false
  const texts = answers.map((one) => (one.status === 'fulfilled' ? one.value : one.reason))
  assert.deepEqual(texts, Array(atOnce).fill('200 in its own time'))
  assert.equal(await host.exited, code)
  return true
}
