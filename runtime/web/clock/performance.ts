import { EventTarget } from '../events/event-target.ts'
import { clock } from './clock.ts'

const made = Symbol('made by the prelude')
let last = 0

/** Milliseconds since the isolate was booted. It never goes back, also when the system's clock does. */
export const now = (): number => {
  const ms = clock.now() - clock.origin()
  if (ms > last) last = ms
  return last
}

/** High Resolution Time, 6, with the clock of the isolate. */
export class Performance extends EventTarget {
  readonly #isPerformance = true

  constructor(key: unknown = undefined) {
    super()
    if (key !== made) throw new TypeError('Illegal constructor: there is one Performance')
  }

  get timeOrigin(): number {
    void this.#isPerformance
    return clock.origin()
  }

  now(): number {
    void this.#isPerformance
    return now()
  }

  toJSON(): { timeOrigin: number } {
    void this.#isPerformance
    return { timeOrigin: clock.origin() }
  }
}

export const createPerformance = (): Performance => new Performance(made)
