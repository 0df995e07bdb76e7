/** What EventTarget keeps about an event on its way. Only the two of them see it. */
type Flight = {
  target: unknown
  currentTarget: unknown
  dispatching: boolean
  stopped: boolean
  stoppedAtOnce: boolean
  canceled: boolean
  passive: boolean
}

export type EventInit = { bubbles?: boolean; cancelable?: boolean; composed?: boolean }

let flightOf: (event: Event) => Flight

/** DOM standard, 2.2, without the tree: there is one target, and nothing to bubble to. */
export class Event {
  static readonly NONE = 0
  static readonly CAPTURING_PHASE = 1
  static readonly AT_TARGET = 2
  static readonly BUBBLING_PHASE = 3

  readonly #type: string
  readonly #init: EventInit
  readonly #timeStamp = Date.now()
  readonly #flight: Flight = {
    target: null,
    currentTarget: null,
    dispatching: false,
    stopped: false,
    stoppedAtOnce: false,
    canceled: false,
    passive: false,
  }

  static {
    flightOf = (event) => event.#flight
  }

  constructor(type: string, init: EventInit | null = {}) {
    if (type === undefined) throw new TypeError('An event needs a type')
    this.#type = `${type}`
    this.#init = { ...init }
  }

  get type(): string {
    return this.#type
  }
  get target(): unknown {
    return this.#flight.target
  }
  get srcElement(): unknown {
    return this.#flight.target
  }
  get currentTarget(): unknown {
    return this.#flight.currentTarget
  }
  get eventPhase(): number {
    return this.#flight.dispatching ? Event.AT_TARGET : Event.NONE
  }
  get bubbles(): boolean {
    return Boolean(this.#init.bubbles)
  }
  get cancelable(): boolean {
    return Boolean(this.#init.cancelable)
  }
  get composed(): boolean {
    return Boolean(this.#init.composed)
  }
  get defaultPrevented(): boolean {
    return this.#flight.canceled
  }
  get returnValue(): boolean {
    return !this.#flight.canceled
  }
  get cancelBubble(): boolean {
    return this.#flight.stopped
  }
  get isTrusted(): boolean {
    return false
  }
  get timeStamp(): number {
    return this.#timeStamp
  }

  composedPath(): unknown[] {
    return this.#flight.currentTarget === null ? [] : [this.#flight.currentTarget]
  }
  preventDefault(): void {
    if (this.cancelable && !this.#flight.passive) this.#flight.canceled = true
  }
  stopPropagation(): void {
    this.#flight.stopped = true
  }
  stopImmediatePropagation(): void {
    this.#flight.stopped = true
    this.#flight.stoppedAtOnce = true
  }
}

/** The state that EventTarget moves an event through. */
export const eventFlight = (event: Event): Flight => flightOf(event)
