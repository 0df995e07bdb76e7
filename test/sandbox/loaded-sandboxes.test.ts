import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLoadedSandboxes } from '../../host/sandbox/dispatch/loaded-sandboxes.ts'
import type { SandboxTarget } from '../../host/sandbox/target.ts'
import type { FrameToWrite } from '../../runtime/process/frame.ts'
import { toProcess } from '../../runtime/process/messages.ts'

const target = (key = 'inst_a'): SandboxTarget => ({
  key,
  group: 'publisher-org_1',
  integration: 'hello',
  version: { digest: 'one', code: '' },
})
const limits = { cpuMs: 1, loadMs: 1, wallMs: 1, timers: 1, heapMb: 1, residentMb: 1 }

/** Holds the environments as a sandbox process does: by number, the newest text of each. */
function createProcess() {
  const texts = new Map<number, string>()
  let sent = 0
  const sandboxes = createLoadedSandboxes(({ type, number = 0, text = '' }: FrameToWrite) => {
    if (type !== toProcess.environment) return
    sent += 1
    texts.set(number, text)
  }, limits)
  /** The environment that a dispatch gets in the process. */
  const run = (text: string, of = target()) => texts.get(sandboxes.load(of, text).environment)
  return { sandboxes, run, texts, sent: () => sent }
}

test('each dispatch gets its own environment, and a sandbox holds 16', () => {
  const { run, texts } = createProcess()
  for (let round = 0; round < 3; round += 1) {
    for (let index = 0; index < 100; index += 1) assert.equal(run(`token ${index}`), `token ${index}`)
  }
  assert.equal(texts.size, 16)
})

test('an environment in use is sent once, beside many others', () => {
  const { run, sent } = createProcess()
  run('in use')
  for (let index = 0; index < 100; index += 1) {
    run(`token ${index}`)
    assert.equal(run('in use'), 'in use')
  }
  assert.equal(sent(), 101)
})

test('a failed load is refused for two seconds, also beside many other failed loads', (t) => {
  let nowMs = 1_000
  t.mock.method(performance, 'now', () => nowMs)
  const { sandboxes } = createProcess()
  for (let index = 0; index < 300; index += 1) {
    sandboxes.fail(sandboxes.load(target(`inst_${index}`), '').sandbox, new Error(`failed ${index}`))
  }
  assert.equal(sandboxes.recentFailure(target('inst_150'))?.message, 'failed 150')
  assert.equal(sandboxes.recentFailure(target('inst_299'))?.message, 'failed 299')
  assert.equal(sandboxes.recentFailure(target('inst_0')), undefined, 'at most 200 are remembered')
  assert.equal(sandboxes.recentFailure(target('inst_other')), undefined)
  nowMs += 2_001
  assert.equal(sandboxes.recentFailure(target('inst_299')), undefined)
})
