import { now, timeOrigin } from './clock.ts'
import { EventTarget } from './events/event-target.ts'

const made = Symbol('made by the prelude')

/** High Resolution Time, 6. */
export class Performance extends EventTarget {
  readonly #isPerformance = true

  constructor(key: unknown = undefined) {
    super()
    if (key !== made) throw new TypeError('Illegal constructor: there is one Performance')
  }

  get timeOrigin(): number {
    void this.#isPerformance
    return timeOrigin()
  }

  now(): number {
    void this.#isPerformance
    return now()
  }

  toJSON(): { timeOrigin: number } {
    void this.#isPerformance
    return { timeOrigin: timeOrigin() }
  }
}

export const createPerformance = (): Performance => new Performance(made)
