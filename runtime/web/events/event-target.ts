import { DOMException } from './dom-exception.ts'
import { type Event, eventFlight, isEvent } from './event.ts'
import { reportException } from './report-exception.ts'

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

/** `changed` is told when a listener comes or goes. */
type Listening = { listeners: Listener[]; changed: (() => void) | undefined }

let listeningOf: (target: EventTarget) => Listening

/** DOM standard, 2.7, without the tree. */
export class EventTarget {
  readonly #listening: Listening = { listeners: [], changed: undefined }

  static {
    listeningOf = (target) => target.#listening
  }

  addEventListener(type: string, callback: EventListener | null, options: ListenerOptions | null = {}): void {
    const listening = listeningHere(this)
    needTwo(arguments.length)
    const key = `${type}`
    const { capture, once, passive, signal } = flattenMore(options)
    if (!isCallback(callback) || signal?.aborted === true) return
    if (find(listening, key, callback, capture) !== undefined) return
    const listener = { type: key, callback, capture, once, passive, removed: false }
    listening.listeners.push(listener)
    listening.changed?.()
    signal?.addEventListener('abort', () => remove(listening, listener), { once: true })
  }

  removeEventListener(
    type: string,
    callback: EventListener | null,
    options: ListenerOptions | null = {},
  ): void {
    const listening = listeningHere(this)
    needTwo(arguments.length)
    const key = `${type}`
    const capture = flatten(options)
    if (!isCallback(callback)) return
    const found = find(listening, key, callback, capture)
    if (found !== undefined) remove(listening, found)
  }

  dispatchEvent(event: Event): boolean {
    listeningHere(this)
    if (!isEvent(event)) throw new TypeError('dispatchEvent takes an Event')
    const flight = eventFlight(event)
    if (flight.dispatching || !flight.initialized) {
      throw new DOMException('This event is being dispatched already', 'InvalidStateError')
    }
    flight.trusted = false
    return dispatch(this, event)
  }
}

/** Listens for the global object, which is no instance of any class; it is `this` of a call without one. */
const globalTarget = new EventTarget()

const isGlobal = (target: unknown): boolean =>
  target === undefined || target === null || target === globalThis

const listeningHere = (target: EventTarget | undefined): Listening =>
  listeningOf(isGlobal(target) ? globalTarget : (target as EventTarget))

/** An event of the platform itself, as opposed to one of a script. False where a listener prevented its default. */
export const fire = (target: unknown, event: Event): boolean => {
  eventFlight(event).trusted = true
  return dispatch(target as EventTarget, event)
}

const dispatch = (target: EventTarget, event: Event): boolean => {
  const flight = eventFlight(event)
  const listening = listeningHere(target)
  flight.dispatching = true
  flight.target = isGlobal(target) ? globalThis : target
  flight.currentTarget = flight.target
  for (const capture of [true, false]) {
    if (flight.stopped) break
    for (const listener of [...listening.listeners]) {
      if (listener.capture !== capture || listener.type !== flight.type || listener.removed) continue
      if (listener.once) remove(listening, listener)
      flight.passive = listener.passive
      call(listener.callback, event, flight.target)
      flight.passive = false
      if (flight.stoppedAtOnce) break
    }
  }
  flight.dispatching = false
  flight.currentTarget = null
  flight.stopped = false
  flight.stoppedAtOnce = false
  return !flight.canceled
}

/** An error that a listener throws is reported, and the next listener runs. */
const call = (callback: EventListener, event: Event, target: unknown): void => {
  try {
    if (typeof callback === 'function') return void callback.call(target, event)
    const { handleEvent } = callback
    if (typeof handleEvent !== 'function') throw new TypeError('The listener has no function handleEvent')
    handleEvent.call(callback, event)
  } catch (thrown) {
    reportException(thrown)
  }
}

/** True when the target has a listener for this type. */
export const hasListener = (target: EventTarget, type: string): boolean =>
  listeningHere(target).listeners.some((listener) => listener.type === type)

export const watchListeners = (target: EventTarget, changed: () => void): void => {
  listeningHere(target).changed = changed
}

const find = (
  { listeners }: Listening,
  type: string,
  callback: EventListener,
  capture: boolean,
): Listener | undefined =>
  listeners.find(
    (listener) => listener.type === type && listener.callback === callback && listener.capture === capture,
  )

const remove = (listening: Listening, listener: Listener): void => {
  listener.removed = true
  listening.listeners = listening.listeners.filter((other) => other !== listener)
  listening.changed?.()
}

const isCallback = (callback: unknown): callback is EventListener => {
  if (callback === null || callback === undefined) return false
  if (typeof callback === 'function' || typeof callback === 'object') return true
  throw new TypeError('An event listener is a function, or an object with handleEvent')
}

const needTwo = (given: number): void => {
  if (given < 2) throw new TypeError('A listener is given as a type and a callback')
}

/** DOM standard, "flatten". */
const flatten = (options: ListenerOptions | null | undefined): boolean =>
  isDictionary(options) ? Boolean(options.capture) : Boolean(options)

/** DOM standard, "flatten more". */
const flattenMore = (options: ListenerOptions | null | undefined) => {
  const capture = flatten(options)
  if (!isDictionary(options)) return { capture, once: false, passive: false, signal: undefined }
  const once = Boolean(options.once)
  const passive = Boolean(options.passive)
  const { signal } = options
  if (signal !== undefined && !(signal instanceof EventTarget && 'aborted' in signal)) {
    throw new TypeError('The signal of a listener is an AbortSignal')
  }
  return { capture, once, passive, signal }
}

const isDictionary = (
  options: ListenerOptions | null | undefined,
): options is Exclude<ListenerOptions, boolean> =>
  (typeof options === 'object' && options !== null) || typeof options === 'function'
