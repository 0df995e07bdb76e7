import { createIdTable } from '../../../runtime/process/id-table.ts'
import { bodyBrokeOffError } from '../sandbox-errors.ts'
import type { LiveDispatch, QueuedDispatch } from './live-dispatch.ts'

/** The dispatches that a process has, each from when it is sent until it is done. */
export type LiveDispatches = {
  /** Ids rise by one: the black box tells by them which have begun. */
  add: (sandbox: number, queued: QueuedDispatch) => LiveDispatch
  get: (id: number) => LiveDispatch | undefined
  ofSandbox: (sandbox: number) => LiveDispatch[]
  all: () => LiveDispatch[]
  isEmpty: () => boolean
  /** Those whose time is over. There is no timer for each: most end after a few milliseconds. */
  expired: () => LiveDispatch[]
  /** Ends the dispatch, its streams, and what it still asks of the host. */
  end: (live: LiveDispatch, usage?: Usage | ToldLater) => void
}

/** Its process says a moment later what it has used. */
export type ToldLater = 'told later'

/** As the process measured it. */
export type Usage = { cpuMs: number; heapBytes: number }

export const noUsage: Usage = { cpuMs: 0, heapBytes: 0 }

/** @param onEnd is called once for each dispatch, whatever has ended it */
export function createLiveDispatches(
  wallMs: number,
  onEnd: (live: LiveDispatch, usage: Usage | ToldLater) => void,
): LiveDispatches {
  const lives = createIdTable<LiveDispatch>(1024)
  let count = 0
  let lastId = 0
  return {
    add(sandbox, queued) {
      lastId += 1
      const id = lastId
      const sentMs = performance.now()
      const live: LiveDispatch = {
        id,
        sandbox,
        queued,
        startedAtMs: Date.now(),
        sentMs,
        answeredMs: undefined,
        outcome: 'sandbox_died',
        status: undefined,
        patienceMs: wallMs,
        movedMs: sentMs,
        calls: 0,
        egressCalls: 0,
        egressBytes: 0,
        logLines: 0,
        logBytes: 0,
        running: undefined,
        sources: undefined,
        sinks: undefined,
      }
      lives.set(id, live)
      count += 1
      return live
    },
    get: lives.get,
    ofSandbox: (sandbox) => lives.values().filter((live) => live.sandbox === sandbox),
    all: lives.values,
    isEmpty: () => count === 0,
    expired() {
      if (count === 0) return []
      const now = performance.now()
      return lives.values().filter(({ movedMs, patienceMs }) => now - movedMs > patienceMs)
    },
    end(live, usage = noUsage) {
      if (lives.get(live.id) !== live) return
      lives.delete(live.id)
      count -= 1
      for (const controller of live.running?.values() ?? []) controller.abort()
      for (const source of live.sources?.values() ?? []) source.close()
      for (const sink of live.sinks?.values() ?? []) sink.fail(bodyBrokeOffError())
      onEnd(live, usage)
    },
  }
}
