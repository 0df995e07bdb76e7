// tier: wall (its attacks use every processor)
// Each case is one line, so that it reads as a table.
// biome-ignore-all format: a case to a line
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { buildPrelude } from '../../../host/bundle/build-runtime.ts'
import { startProcess } from '../../../host/sandbox/process/start-process.ts'
import type { EndCause } from '../../../host/sandbox/sandbox-errors.ts'
import { createSandboxes, type Sandboxes } from '../../../host/sandbox/sandboxes.ts'
import { scriptOf } from '../../runtime/guest.ts'
import { buildsFolder } from '../../support/kept-builds.ts'

const program = fileURLToPath(new URL('taken-over.ts', import.meta.url))
/** How long a request waits for what never answers; one that is answered may wait for a machine that is busy. */
const wallMs = 2_000
const patienceMs = 20_000
/** The honest process never waits for the other one. */
const heldUpMs = 5_000
const limits = { heapMb: 64, residentMb: 512, cpuMs: 300, loadMs: 300, wallMs, waitUntilMs: 2_000, bodyBytes: 1e6, fetchBytes: 1e6, calls: 10, callsAtOnce: 10, fetches: 10, timers: 10, logLines: 1000, logBytes: 1e6, pending: 1000 }
const target = { key: 'x', group: 'operator', integration: 'x', version: { digest: 'd', code: '' } } as const
const level = { kind: 'integration', integration: 'x' } as const
const context = { requestId: 'req_1', integration: 'x', scopes: [], level, hops: 0 }
const body = new Uint8Array(900_000)
const asked = { environment: '{}', message: '{"event":{"type":"x"}}', context }
const nobody = { onReceipt: () => {}, onLimit: () => {}, onSuspend: () => {} }

/** What it does, what the request gets, and as what the process is ended. */
const died = 'sandbox_died'
/** `sandbox_busy`: the process never says that the script has begun. */
const late = ['wall_clock_limit', 'sandbox_busy']
const cases: [act: string, seen: string[], end?: RegExp][] = [
  // They last longest, and so begin first.
  ['half-a-frame-and-lies', [died, ...late], /^deaf/],
  ['nothing-and-lies', late, /^deaf/],
  ['calls-and-never-reads', [died, ...late], /^deaf/],
  ['garbage-at-once', [died, ...late], /^garbage: frame of \d+ bytes/],
  ['frame-of-2-gb', [died, ...late], /^garbage: frame of 2147483647 bytes/],
  ['frame-of-4-gb', [died, ...late], /^garbage: frame of 4294967295 bytes/],
  ['frame-of-nothing', [died, ...late], /^garbage: frame of 0 bytes/],
  ['lengths-that-contradict', [died, ...late], /^garbage: frame whose text is longer/],
  ['type-that-there-is-not', [died, ...late], /^garbage: frame of type 99/],
  ['type-that-there-is-not-later', late, /^garbage: frame of type 99/],
  ['answer-with-a-prototype', ['script_failed']],
  ['answer-of-great-depth', ['script_failed']],
  ['unrequested-chunks', ['answered', 'script_failed', died]],
  ['half-a-frame', [died, ...late]],
  ['nothing', [died, ...late]],
  ['closes-its-socket', [died, ...late], /^died/],
  ['ends-its-writing', [died, ...late], /^died/],
  ['exits', [died, ...late], /^died/],
  ['answers-of-others', [died, ...late], /^garbage: post for another sandbox/],
  ['post-for-another-sandbox', [died, ...late], /^garbage: post for another sandbox/],
  ['settles-unasked', ['answered']],
  ['breaks-again-and-again', [died, ...late]],
  ['loads-and-fails-for-all', ['script_failed']],
  ['small-frames', [died, ...late]],
  ['small-frames-and-lies', [died, ...late]],
  ['logs-without-a-dispatch', [died, ...late]],
]

describe('a hostile sandbox process', { concurrency: 3 }, () => {
  let neighbour: Sandboxes
  const honest = { ...target, version: { digest: 'h', code: `__annexDefine(function (module) {${scriptOf('return 1')}})` } }

  before(async () => {
    const { code: text } = await buildPrelude({ cacheFolder: buildsFolder })
    const hostCalls = { run: async () => assert.fail('the honest one calls nothing'), isEgress: () => false }
    neighbour = createSandboxes({ platform: { text }, limits: { ...limits, cpuMs: 2_000, loadMs: 2_000, wallMs: patienceMs }, processes: 1, processesMax: 8, hostCalls, onLog: () => {}, ...nobody, onProcessEnd: () => {} })
    await neighbour.dispatch({ ...asked, target: honest })
  })
  after(async () => {
    await neighbour.close()
  })

  for (const [act, seen, end] of cases) {
    it(`${act}: the request gets ${seen.join(' or ')}, and the other process keeps answering`, async () => {
      const ends: string[] = []
      let lines = 0
      const isEndless = late.some((code) => seen.includes(code)) && (!seen.includes(died) || end === undefined || String(end).includes('deaf'))
      const taken = createSandboxes({
        platform: { text: '' },
        // A liar on a busy machine is late at times: a short limit of CPU time would end it before it is found deaf.
        limits: { ...limits, cpuMs: patienceMs, wallMs: isEndless ? wallMs : patienceMs },
        processes: 1, processesMax: 8,
        start: (onErrorOutput) => startProcess(onErrorOutput, { enclosure: [], program: [program, act] }),
        ...nobody,
        hostCalls: { run: async () => ({ ok: false, error: { name: 'n', message: 'm' } }), isEgress: () => false },
        onLog: () => { lines += 1 },
        onProcessEnd: (_slot, cause) => { ends.push(describeEnd(cause)) },
      })
      try {
        const memory = process.memoryUsage().rss
        const outcome = taken.dispatch({ ...asked, target, body }).then(() => 'answered', ({ code }) => code as string)
        const isOver = outcome.then(() => true)
        let slowestMs = 0
        do {
          const started = performance.now()
          const { result } = await neighbour.dispatch({ ...asked, target: honest })
          assert.deepEqual(result, { kind: 'value', value: 1 })
          slowestMs = Math.max(slowestMs, performance.now() - started)
        } while (!(await Promise.race([isOver, new Promise((resolve) => setTimeout(resolve, 20))])))
        assert.ok(seen.includes(await outcome), await outcome)
        assert.ok(slowestMs < heldUpMs, `the honest one waited ${slowestMs} ms`)
        for (let waited = 0; end !== undefined && ends.length === 0 && waited < 20_000; waited += 50) await new Promise((resolve) => setTimeout(resolve, 50))
        if (end !== undefined) assert.match(ends[0] ?? 'still running', end)
        // No more than the process is heard for: what a dispatch may log, and what fits into the socket unread.
        assert.ok(lines <= 2_000, `${lines} log lines`)
        const grownMb = (process.memoryUsage().rss - memory) / 1e6
        assert.ok(grownMb < 250, `the host grew by ${grownMb} MB`)
        assert.equal(({} as { polluted?: number }).polluted, undefined)
      } finally {
        await taken.close()
      }
    })
  }
})

const describeEnd = (cause: EndCause): string => (cause.kind === 'garbage' ? `garbage: ${cause.message}` : cause.kind)
