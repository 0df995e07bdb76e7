import { now } from '../clock/clock.ts'

/** The dispatch state of an event. Only Event and EventTarget see it. */
export type Flight = {
  type: string
  bubbles: boolean
  cancelable: boolean
  target: unknown
  currentTarget: unknown
  initialized: boolean
  dispatching: boolean
  stopped: boolean
  stoppedAtOnce: boolean
  canceled: boolean
  passive: boolean
  trusted: boolean
}

export type EventInit = { bubbles?: boolean; cancelable?: boolean; composed?: boolean }

let flightOf: (event: Event) => Flight
let isEventObject: (value: unknown) => value is Event

/** DOM standard, 2.2, without the tree: there is one target, and nothing to bubble to. */
export class Event {
  declare readonly isTrusted: boolean
  readonly #composed: boolean
  readonly #timeStamp = now()
  readonly #flight: Flight

  static {
    flightOf = (event) => event.#flight
    isEventObject = (value): value is Event => typeof value === 'object' && value !== null && #flight in value
  }

  constructor(type: string, init: EventInit | null = {}) {
    if (arguments.length === 0) throw new TypeError('An event needs a type')
    const name = `${type}`
    const members = toDictionary(init)
    const bubbles = Boolean(members.bubbles)
    const cancelable = Boolean(members.cancelable)
    this.#composed = Boolean(members.composed)
    this.#flight = { ...newFlight, type: name, bubbles, cancelable }
    Object.defineProperty(this, 'isTrusted', isTrustedProperty)
  }

  get type(): string {
    return this.#flight.type
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
    return this.#flight.dispatching ? phases.AT_TARGET : phases.NONE
  }
  get bubbles(): boolean {
    return this.#flight.bubbles
  }
  get cancelable(): boolean {
    return this.#flight.cancelable
  }
  get composed(): boolean {
    return this.#composed
  }
  get defaultPrevented(): boolean {
    return this.#flight.canceled
  }
  get returnValue(): boolean {
    return !this.#flight.canceled
  }
  set returnValue(value: boolean) {
    if (!value) this.preventDefault()
  }
  get cancelBubble(): boolean {
    return this.#flight.stopped
  }
  set cancelBubble(value: boolean) {
    if (value) this.#flight.stopped = true
  }
  get timeStamp(): number {
    return this.#timeStamp
  }

  composedPath(): unknown[] {
    return this.#flight.currentTarget === null ? [] : [this.#flight.currentTarget]
  }
  preventDefault(): void {
    if (this.#flight.cancelable && !this.#flight.passive) this.#flight.canceled = true
  }
  stopPropagation(): void {
    this.#flight.stopped = true
  }
  stopImmediatePropagation(): void {
    this.#flight.stopped = true
    this.#flight.stoppedAtOnce = true
  }
  initEvent(type: string, bubbles: unknown = false, cancelable: unknown = false): void {
    if (arguments.length === 0) throw new TypeError('An event needs a type')
    if (this.#flight.dispatching) return
    const { dispatching: _, trusted: __, ...fresh } = newFlight
    Object.assign(this.#flight, fresh, {
      type: `${type}`,
      bubbles: Boolean(bubbles),
      cancelable: Boolean(cancelable),
    })
  }
}

const newFlight: Flight = {
  type: '',
  bubbles: false,
  cancelable: false,
  target: null,
  currentTarget: null,
  initialized: true,
  dispatching: false,
  stopped: false,
  stoppedAtOnce: false,
  canceled: false,
  passive: false,
  trusted: false,
}

/** One getter for all events, which each has as a property of its own: a script cannot take it off an event. */
const isTrustedProperty = {
  get(this: Event): boolean {
    return flightOf(this).trusted
  },
  set: undefined,
  enumerable: true,
  configurable: false,
}
Object.defineProperty(isTrustedProperty.get, 'name', { value: 'get isTrusted' })

const phases = { NONE: 0, CAPTURING_PHASE: 1, AT_TARGET: 2, BUBBLING_PHASE: 3 }
for (const [name, value] of Object.entries(phases)) {
  Object.defineProperty(Event, name, { value, enumerable: true })
  Object.defineProperty(Event.prototype, name, { value, enumerable: true })
}

/** The state that EventTarget moves an event through. */
export const eventFlight = (event: Event): Flight => flightOf(event)

export const isEvent = (value: unknown): value is Event => isEventObject(value)

/** Web IDL, 3.2.17: nothing stands for a dictionary without members, and no other primitive for any. */
export const toDictionary = <T extends object>(init: T | null | undefined): Partial<T> => {
  if (init === undefined || init === null) return {}
  if (typeof init === 'object' || typeof init === 'function') return init
  throw new TypeError('The init of an event is an object')
}
