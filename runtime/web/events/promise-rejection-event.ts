import { Event, type EventInit, toDictionary } from './event.ts'

/** HTML standard, 8.1.4.7. */
export class PromiseRejectionEvent extends Event {
  readonly #promise: object
  readonly #reason: unknown

  constructor(type: string, init: EventInit & { promise: object; reason?: unknown }) {
    if (arguments.length < 2) throw new TypeError('A PromiseRejectionEvent needs a type and a promise')
    super(type, init)
    const { promise, reason } = toDictionary(init)
    if (typeof promise !== 'object' || promise === null) {
      throw new TypeError('The promise of a PromiseRejectionEvent is an object')
    }
    this.#promise = promise
    this.#reason = reason
  }

  get promise(): object {
    return this.#promise
  }
  get reason(): unknown {
    return this.#reason
  }
}
