import { AnnexError } from '../../errors/annex-error.ts'
import type { LiveDispatch, QueuedDispatch } from './live-dispatch.ts'

/** The dispatches that a process has, each from when it is sent until it is done. */
export type LiveDispatches = {
  /** Ids rise by one: the black box tells by them which have begun. */
  add: (sandbox: number, queued: QueuedDispatch, onTimeout: (live: LiveDispatch) => void) => LiveDispatch
  get: (id: number) => LiveDispatch | undefined
  ofSandbox: (sandbox: number) => LiveDispatch[]
  all: () => LiveDispatch[]
  isEmpty: () => boolean
  /** Gives the dispatch's clock a new time. */
  restart: (live: LiveDispatch, ms: number, onTimeout: (live: LiveDispatch) => void) => void
  /** Ends the dispatch's clock, its streams, and what it still asks of the host. */
  end: (live: LiveDispatch, usage?: Usage) => void
}

/** As the process measured it. */
export type Usage = { cpuMs: number; heapBytes: number }

/** @param onEnd is called once for each dispatch, whatever has ended it */
export function createLiveDispatches(
  wallMs: number,
  onEnd: (live: LiveDispatch, usage: Usage) => void,
): LiveDispatches {
  const lives = new Map<number, LiveDispatch>()
  let lastId = 0
  const all = () => [...lives.values()]
  return {
    add(sandbox, queued, onTimeout) {
      lastId += 1
      const id = lastId
      const live: LiveDispatch = {
        id,
        sandbox,
        queued,
        startedAtMs: Date.now(),
        sentMs: performance.now(),
        answeredMs: undefined,
        outcome: 'sandbox_died',
        timer: setTimeout(() => onTimeout(live), wallMs).unref(),
        calls: 0,
        egressCalls: 0,
        egressBytes: 0,
        logLines: 0,
        logBytes: 0,
        running: new Map(),
        sources: new Map(),
        sinks: new Map(),
      }
      lives.set(id, live)
      return live
    },
    get: (id) => lives.get(id),
    ofSandbox: (sandbox) => all().filter((live) => live.sandbox === sandbox),
    all,
    isEmpty: () => lives.size === 0,
    restart(live, ms, onTimeout) {
      clearTimeout(live.timer)
      live.timer = setTimeout(() => onTimeout(live), ms).unref()
    },
    end(live, usage = { cpuMs: 0, heapBytes: 0 }) {
      if (!lives.delete(live.id)) return
      clearTimeout(live.timer)
      for (const controller of live.running.values()) controller.abort()
      live.running.clear()
      for (const source of live.sources.values()) source.close()
      for (const sink of live.sinks.values()) sink.fail(brokeOff())
      onEnd(live, usage)
    },
  }
}

export const brokeOff = (): AnnexError =>
  new AnnexError('sandbox_died', 'The script ended before its body was sent to its end.')
