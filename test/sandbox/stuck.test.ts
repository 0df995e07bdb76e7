import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { buildPrelude } from '../../host/bundle/build-runtime.ts'
import { startProcess } from '../../host/sandbox/process/start-process.ts'
import { createFrameReader, createFrameWriter, type Frame } from '../../runtime/process/frame.ts'
import { toHost, toProcess } from '../../runtime/process/messages.ts'
import { buildsFolder } from '../support/kept-builds.ts'
import { spin } from '../support/spin.ts'

/** The frames of host and process after a busy time: see `evacuate`. */
const options = {
  ...{ file: 'x', cpuMs: 5000, loadMs: 5000, wallMs: 30_000, pieceBytes: 1e6, timers: 10, allowEval: false },
}

/** Spins at once, or from a timer, far over the 40 ms. */
const bundle = `__annexDefine((module) => {
  const spin = () => ${spin(200)}
  module.exports = { default: { [Symbol.for('annex.dispatch')]: async (event, environment) => {
    environment()
    if (event.type === 'spin') spin()
    if (event.type === 'spin-twice') {
      setTimeout(spin, 0)
      await new Promise((resolve) => setTimeout(resolve, 1))
      spin()
    }
  } } }
})`

/** A sandbox process with two sandboxes, and a host's end of its socketpair. */
async function talk(script: (line: Awaited<ReturnType<typeof open>>) => Promise<void>): Promise<void> {
  const line = await open()
  try {
    await script(line)
  } finally {
    line.started.kill()
    await line.started.exited
    line.started.close()
  }
}

async function open() {
  const { code } = await buildPrelude({ cacheFolder: buildsFolder })
  const started = startProcess((text) => console.error(text))
  const heard: Frame[] = []
  /** Reports that the host has answered, and whether it answers each later one at once. */
  let answered = 0
  let answersAll = false
  const listen = (frame: Frame) => {
    heard.push(frame)
    if (answersAll && frame.type === toHost.stuck) goOn(1)
  }
  started.stream.on('data', createFrameReader(1e8, listen))
  const out = createFrameWriter((bytes) => started.stream.write(bytes))
  /** All in one piece, as they come when the process has been busy. */
  const say = (...frames: Parameters<typeof out.write>[0][]) => {
    for (const frame of frames) out.write(frame)
    out.flush()
  }
  const count = (type: number, dispatch = 0) =>
    heard.filter((frame) => frame.type === type && frame.dispatch === dispatch).length
  const hear = async (type: number, dispatch = 0, times = 1) => {
    while (count(type, dispatch) < times) await sleep(2)
  }
  say({ type: toProcess.platform, number: 64, text: code })
  for (const sandbox of [1, 2]) {
    say({ type: toProcess.load, sandbox, text: JSON.stringify(options), body: bundle })
    say({ type: toProcess.environment, sandbox, number: 0, text: '{}' })
  }
  while (heard.filter(({ type }) => type === toHost.loaded).length < 2) await sleep(5)
  // Frames keep their order: with the answer, all that loading has told is there.
  say({ type: toProcess.ping })
  await hear(toHost.pong)
  const told = count(toHost.stuck)
  goOn(told)
  return { started, say, count, hear, goOn, goOnFromHere, stuck: () => count(toHost.stuck) - told }

  function goOn(times: number): void {
    answered += times
    say(...Array.from({ length: times }, () => ({ type: toProcess.goOn })))
  }

  /** Answers all reports, and each later one as it comes: on a slow machine any frame may take a busy time. */
  function goOnFromHere(): void {
    answersAll = true
    goOn(count(toHost.stuck) - answered)
  }
}

const dispatch = (sandbox: number, id: number, type: string, environment = 0) => ({
  ...{ type: toProcess.dispatch, sandbox, dispatch: id, number: environment },
  text: JSON.stringify({ event: { type } }),
})

describe('a sandbox process that was busy for long', () => {
  it('begins no dispatch until the host allows it', async () => {
    await talk(async ({ say, count, hear, goOnFromHere, stuck }) => {
      say(dispatch(1, 1, 'spin'), dispatch(2, 2, 'quick'), dispatch(2, 3, 'quick'))
      await hear(toHost.answer, 1)
      await sleep(50)
      assert.deepEqual([stuck(), count(toHost.answer, 2)], [1, 0])
      say({ type: toProcess.forget, sandbox: 2, dispatch: 2 })
      goOnFromHere()
      await hear(toHost.answer, 3)
      assert.equal(count(toHost.answer, 2), 0)
    })
  })

  it('begins no dispatch with a new environment until the host allows it', async () => {
    await talk(async ({ say, count, hear, goOnFromHere, stuck }) => {
      const environment = { type: toProcess.environment, sandbox: 2, number: 1, text: '{}' }
      say(environment, dispatch(1, 1, 'spin'), dispatch(2, 2, 'quick', 1), dispatch(2, 3, 'quick', 1))
      await hear(toHost.answer, 1)
      await sleep(50)
      assert.deepEqual([stuck(), count(toHost.answer, 2)], [1, 0])
      say({ type: toProcess.forget, sandbox: 2, dispatch: 2 })
      goOnFromHere()
      await hear(toHost.answer, 3)
      assert.equal(count(toHost.answer, 2), 0)
    })
  })

  it('needs a second permission of the host after a second busy time', async () => {
    await talk(async ({ say, count, hear, goOn, goOnFromHere, stuck }) => {
      say(dispatch(1, 1, 'spin-twice'))
      while (stuck() < 1) await sleep(2)
      say(dispatch(2, 2, 'quick'))
      while (stuck() < 2) await sleep(2)
      // The host moved dispatch 2 during the second busy time: this answers the first report.
      goOn(1)
      await sleep(50)
      assert.equal(count(toHost.answer, 2), 0)
      await hear(toHost.answer, 1)
      say({ type: toProcess.forget, sandbox: 2, dispatch: 2 })
      goOnFromHere()
      say(dispatch(2, 3, 'quick'))
      await hear(toHost.answer, 3)
      assert.equal(count(toHost.answer, 2), 0)
    })
  })
})
