import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import { describe, it } from 'node:test'
import { lowerPriority } from '../../host/sandbox/process/proc.ts'
import { startAnnex, until } from '../support/annex.ts'

const noSessions = !existsSync('/proc/self/autogroup') && 'this system does not share processors by session'
const niceOfSession = (pid: number) =>
  /nice (-?\d+)/.exec(readFileSync(`/proc/${pid}/autogroup`, 'utf8'))?.[1]

const script = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: async () => new Response('fine') })`

describe('CPU time', { skip: noSessions }, () => {
  it('favours the host over a sandbox process and its session', async () => {
    await using ends = new AsyncDisposableStack()
    const annex = await startAnnex({ sandboxes: 'processes', plugins: { plain: { script } } })
    ends.defer(annex.close)
    assert.equal((await fetch(`${annex.url}/x/plain`)).status, 200)
    const pid = annex.server.sandboxes.processes().find(({ slot }) => slot === 'operator#0')?.pid ?? 0
    assert.equal(getPriority(pid), 5)
    assert.equal(niceOfSession(pid), '5')
  })

  it('can be lowered for several sessions at once', async () => {
    const children = [10, 15, 19].map((nice) => {
      const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true })
      lowerPriority(child.pid ?? 0, nice)
      return child
    })
    try {
      const found = await until(
        async () => children.map(({ pid = 0 }) => niceOfSession(pid)),
        (nices) => nices.every((nice) => nice !== '0'),
      )
      assert.deepEqual(found, ['10', '15', '19'])
    } finally {
      for (const child of children) child.kill()
    }
  })
})
