import { post } from '../../wire-kinds.ts'
import type { Wire } from '../bridge/wire.ts'
import { reportException } from '../events/report-exception.ts'
import { createTable, mathMin, reflectApply } from '../primordials.ts'

type Callback = (...given: unknown[]) => unknown
type Timer = { callback: Callback; given: unknown[]; delayMs: number; repeats: boolean; dispatch: number }

/** The timers of one isolate. The process holds the clock; here are the callbacks. */
export type Timers = {
  setTimeout(callback: Callback, delayMs?: number, ...given: unknown[]): number
  setInterval(callback: Callback, delayMs?: number, ...given: unknown[]): number
  clearTimer(id?: number): void
  fire(id: number): void
}

/** Longer delays wrap around to at once in browsers; here they wait this long. */
const longestDelayMs = 2_147_483_647
/** An interval of nothing would keep the process busy with it alone. */
const shortestIntervalMs = 4

/** Timers over a wire. */
export const createTimers = (wire: Wire): Timers => {
  const timers = createTable<Timer>()
  let lastId = 0

  const start = (id: number, timer: Timer): void => {
    timers[id] = timer
    wire.post(post.timer, id, timer.delayMs)
  }

  const create = (callback: Callback, delay: unknown, repeats: boolean, given: unknown[]): number => {
    if (typeof callback !== 'function')
      throw new TypeError('A timer needs a function; text is not run as code')
    const wanted = Number(delay) || 0
    const least = repeats ? shortestIntervalMs : 0
    const delayMs = wanted > least ? mathMin(wanted, longestDelayMs) : least
    lastId += 1
    start(lastId, { callback, given, delayMs, repeats, dispatch: wire.dispatch })
    return lastId
  }

  return {
    setTimeout: (callback, delayMs, ...given) => create(callback, delayMs, false, given),
    setInterval: (callback, delayMs, ...given) => create(callback, delayMs, true, given),
    clearTimer(id) {
      const key = Number(id)
      if (timers[key] === undefined) return
      delete timers[key]
      wire.post(post.clearTimer, key, 0)
    },
    fire(id) {
      const timer = timers[id]
      if (timer === undefined) return
      if (!timer.repeats) delete timers[id]
      wire.dispatch = timer.dispatch
      try {
        reflectApply(timer.callback, globalThis, timer.given)
      } catch (thrown) {
        reportException(thrown)
      }
      if (timer.repeats && timers[id] === timer) start(id, timer)
    },
  }
}
