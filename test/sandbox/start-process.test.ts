import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startProcess } from '../../host/sandbox/process/start-process.ts'
import { createSandboxes } from '../../host/sandbox/sandboxes.ts'

/** Runs while there is no program to start, as when the system has no process or file left to give. */
async function withoutProgram<T>(run: () => Promise<T>): Promise<T> {
  const { execPath } = process
  process.execPath = '/nowhere/node'
  try {
    return await run()
  } finally {
    process.execPath = execPath
  }
}

describe('a sandbox process that cannot start', () => {
  it('counts as ended, and reports the reason', async () => {
    const output: string[] = []
    await withoutProgram(async () => {
      const started = startProcess((text) => output.push(text))
      assert.equal(await started.exited, undefined)
      assert.equal(started.readBlackBox().lastBegun, 0)
      started.kill()
      started.close()
    })
    assert.match(output.join(), /^not started: spawn \/nowhere\/node ENOENT/)
  })

  it('does not end the host: waiting dispatches get an error after a few tries', async () => {
    let ends = 0
    const limits = {
      heapMb: 64,
      residentMb: 512,
      cpuMs: 1000,
      loadMs: 1000,
      wallMs: 5000,
      waitUntilMs: 5000,
      timers: 10,
      logLines: 10,
      bodyBytes: 1e6,
      fetchBytes: 1e6,
      calls: 10,
      callsAtOnce: 10,
      fetches: 10,
      logBytes: 1000,
      pending: 10,
    }
    const target = {
      key: 'x',
      group: 'operator',
      integration: 'x',
      version: { digest: 'd', code: '' },
    } as const
    const level = { kind: 'integration', integration: 'x' } as const
    const context = { requestId: 'req_1', integration: 'x', scopes: [], level, hops: 0 }
    await withoutProgram(async () => {
      const sandboxes = createSandboxes({
        platform: { text: '' },
        limits,
        processes: 1,
        processesMax: 8,
        hostCalls: { run: async () => assert.fail('nothing runs'), isEgress: () => false },
        onLog: () => {},
        onReceipt: () => {},
        onLimit: () => {},
        onProcessEnd: () => {
          ends += 1
        },
        onSuspend: () => {},
      })
      await assert.rejects(sandboxes.dispatch({ target, environment: '{}', message: '{}', context }), {
        code: 'sandbox_died',
      })
      await sandboxes.close()
    })
    assert.ok(ends > 0 && ends < 20, `${ends} ends`)
  })
})
