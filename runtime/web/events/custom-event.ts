import { Event, type EventInit, eventFlight, toDictionary } from './event.ts'

/** DOM standard, 2.4. */
export class CustomEvent extends Event {
  #detail: unknown

  constructor(type: string, init: (EventInit & { detail?: unknown }) | null = {}) {
    if (arguments.length === 0) throw new TypeError('An event needs a type')
    super(type, init)
    const { detail = null } = toDictionary(init)
    this.#detail = detail
  }

  get detail(): unknown {
    return this.#detail
  }

  initCustomEvent(
    type: string,
    bubbles: unknown = false,
    cancelable: unknown = false,
    detail: unknown = null,
  ): void {
    if (arguments.length === 0) throw new TypeError('An event needs a type')
    if (eventFlight(this).dispatching) return
    this.initEvent(type, bubbles, cancelable)
    this.#detail = detail
  }
}
