import { Event, eventFlight } from './event.ts'

export type EventListener = ((event: Event) => unknown) | { handleEvent(event: Event): unknown }
export type ListenerOptions =
  | boolean
  | { once?: boolean; capture?: boolean; passive?: boolean; signal?: EventTarget & { aborted: boolean } }

type Listener = {
  type: string
  callback: EventListener
  capture: boolean
  once: boolean
  passive: boolean
  removed: boolean
}

let listensTo: (target: EventTarget, type: string) => boolean

/** DOM standard, 2.7, without the tree. */
export class EventTarget {
  #listeners: Listener[] = []

  static {
    listensTo = (target, type) => target.#listeners.some((listener) => listener.type === type)
  }

  addEventListener(type: string, callback: EventListener | null, options?: ListenerOptions): void {
    const { capture, once, passive, signal } = flatten(options)
    if (callback === null || callback === undefined || signal?.aborted === true) return
    if (typeof callback !== 'function' && typeof callback !== 'object') {
      throw new TypeError('An event listener is a function, or an object with handleEvent')
    }
    const key = `${type}`
    if (this.#find(key, callback, capture) !== undefined) return
    this.#listeners.push({ type: key, callback, capture, once, passive, removed: false })
    signal?.addEventListener('abort', () => this.removeEventListener(key, callback, capture), { once: true })
  }

  removeEventListener(type: string, callback: EventListener | null, options?: ListenerOptions): void {
    const found = this.#find(`${type}`, callback, flatten(options).capture)
    if (found !== undefined) this.#remove(found)
  }

  dispatchEvent(event: Event): boolean {
    if (!(event instanceof Event)) throw new TypeError('dispatchEvent takes an Event')
    const flight = eventFlight(event)
    if (flight.dispatching) throw new TypeError('This event is being dispatched already')
    flight.dispatching = true
    flight.target = this
    flight.currentTarget = this
    for (const listener of [...this.#listeners]) {
      if (listener.type !== event.type || listener.removed) continue
      if (listener.once) this.#remove(listener)
      flight.passive = listener.passive
      this.#call(listener.callback, event)
      flight.passive = false
      if (flight.stoppedAtOnce) break
    }
    flight.dispatching = false
    flight.currentTarget = null
    flight.stopped = false
    flight.stoppedAtOnce = false
    return !flight.canceled
  }

  #call(callback: EventListener, event: Event): void {
    try {
      if (typeof callback === 'function') callback.call(this, event)
      else callback.handleEvent(event)
    } catch (thrown) {
      // As in browsers: it goes to the log, and the next listener runs.
      const report = (globalThis as { reportError?: (thrown: unknown) => void }).reportError
      report?.(thrown)
    }
  }

  #find(type: string, callback: EventListener | null, capture: boolean): Listener | undefined {
    return this.#listeners.find(
      (listener) => listener.type === type && listener.callback === callback && listener.capture === capture,
    )
  }

  #remove(listener: Listener): void {
    listener.removed = true
    this.#listeners = this.#listeners.filter((other) => other !== listener)
  }
}

/** Whether anybody listens to events of this type. */
export const hasListener = (target: EventTarget, type: string): boolean => listensTo(target, type)

const flatten = (options: ListenerOptions | undefined) => {
  if (typeof options !== 'object' || options === null) {
    return { capture: Boolean(options), once: false, passive: false, signal: undefined }
  }
  return {
    capture: Boolean(options.capture),
    once: Boolean(options.once),
    passive: Boolean(options.passive),
    signal: options.signal,
  }
}
