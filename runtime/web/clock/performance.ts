import { EventTarget } from '../events/event-target.ts'
import { clock, now } from './clock.ts'

const made = Symbol('made by the prelude')

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
