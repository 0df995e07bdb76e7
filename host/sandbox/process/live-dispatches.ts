import type { LiveDispatch, QueuedDispatch } from './live-dispatch.ts'

/** The dispatches that a process has, each from when it is sent until it is done. */
export type LiveDispatches = {
  /** Ids rise by one: the black box tells by them which have begun. */
  add: (sandbox: number, queued: QueuedDispatch, onTimeout: (live: LiveDispatch) => void) => LiveDispatch
  get: (id: number) => LiveDispatch | undefined
  ofSandbox: (sandbox: number) => LiveDispatch[]
  all: () => LiveDispatch[]
  /** Gives the dispatch's clock a new time. */
  restart: (live: LiveDispatch, ms: number, onTimeout: (live: LiveDispatch) => void) => void
  /** Ends the dispatch's clock, and what it still asks of the host. */
  end: (live: LiveDispatch) => void
}

export function createLiveDispatches(wallMs: number): LiveDispatches {
  const lives = new Map<number, LiveDispatch>()
  let lastId = 0
  const all = () => [...lives.values()]
  return {
    add(sandbox, queued, onTimeout) {
      lastId += 1
      const id = lastId
      const timer = setTimeout(() => onTimeout(live), wallMs).unref()
      const live: LiveDispatch = {
        id,
        sandbox,
        queued,
        timer,
        answered: false,
        calls: 0,
        logLines: 0,
        running: new Map(),
      }
      lives.set(id, live)
      return live
    },
    get: (id) => lives.get(id),
    ofSandbox: (sandbox) => all().filter((live) => live.sandbox === sandbox),
    all,
    restart(live, ms, onTimeout) {
      clearTimeout(live.timer)
      live.timer = setTimeout(() => onTimeout(live), ms).unref()
    },
    end(live) {
      lives.delete(live.id)
      clearTimeout(live.timer)
      for (const controller of live.running.values()) controller.abort()
      live.running.clear()
    },
  }
}
