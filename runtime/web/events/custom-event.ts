import { Event, type EventInit } from './event.ts'

/** DOM standard, 2.4. */
export class CustomEvent extends Event {
  readonly #detail: unknown

  constructor(type: string, init: (EventInit & { detail?: unknown }) | null = {}) {
    super(type, init)
    this.#detail = init?.detail ?? null
  }

  get detail(): unknown {
    return this.#detail
  }
}
