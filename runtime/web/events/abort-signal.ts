import { DOMException } from './dom-exception.ts'
import { Event } from './event.ts'
import { defineEventHandler } from './event-handler.ts'
import { EventTarget, fire, hasListener, watchListeners } from './event-target.ts'

const made = Symbol('made by the prelude')

/** Aborts a signal, with all that follow it. */
export let abortSignal: (signal: AbortSignal, reason: unknown) => void
let follow: (signal: AbortSignal, sources: AbortSignal[]) => void
let isSignal: (value: unknown) => value is AbortSignal

/** DOM standard, 3.2. `AbortSignal.timeout` is added where the timers are (globals.ts). */
export class AbortSignal extends EventTarget {
  #aborted = false
  #reason: unknown
  /** The signals that this one follows: never ones that follow others themselves, but what those follow. */
  #sources: AbortSignal[] | undefined
  /**
   * Signals that follow this one. Weak references: a long-lived source outlives thousands of them. Those with
   * listeners are held strongly besides.
   */
  #followers: WeakRef<AbortSignal>[] = []
  readonly #heard = new Set<AbortSignal>()

  static {
    abortSignal = (signal, reason) => signal.#abort(reason)
    follow = (signal, sources) => signal.#follow(sources)
    isSignal = (value): value is AbortSignal =>
      typeof value === 'object' && value !== null && #aborted in value
  }

  constructor(key: unknown = undefined) {
    super()
    if (key !== made) throw new TypeError('Illegal constructor: an AbortSignal comes from an AbortController')
  }

  static abort(reason: unknown = undefined): AbortSignal {
    const signal = new AbortSignal(made)
    signal.#aborted = true
    signal.#reason = reason === undefined ? aborted() : reason
    return signal
  }

  static any(signals: Iterable<AbortSignal>): AbortSignal {
    const sources = [...signals]
    if (!sources.every(isSignal)) throw new TypeError('AbortSignal.any takes AbortSignals')
    return createFollowingSignal(sources)
  }

  get aborted(): boolean {
    return this.#aborted
  }
  get reason(): unknown {
    return this.#reason
  }

  throwIfAborted(): void {
    if (this.#aborted) throw this.#reason
  }

  #follow(signals: AbortSignal[]): void {
    const first = signals.find((signal) => signal.#aborted)
    if (first !== undefined) {
      this.#aborted = true
      this.#reason = first.#reason
      return
    }
    const sources = new Set(signals.flatMap((signal) => signal.#sources ?? [signal]))
    this.#sources = [...sources]
    for (const source of sources) {
      source.#followers = source.#followers.filter((follower) => follower.deref() !== undefined)
      source.#followers.push(new WeakRef(this))
    }
    watchListeners(this, () => {
      const isHeard = hasListener(this, 'abort')
      for (const source of sources) {
        if (isHeard) source.#heard.add(this)
        else source.#heard.delete(this)
      }
    })
  }

  #abort(reason: unknown): void {
    if (this.#aborted) return
    this.#aborted = true
    this.#reason = reason
    // All of them are aborted before the first event: a listener sees no signal that is still to follow.
    const followers: AbortSignal[] = []
    for (const reference of this.#followers) {
      const follower = reference.deref()
      if (follower === undefined || follower.#aborted) continue
      follower.#aborted = true
      follower.#reason = reason
      followers.push(follower)
    }
    this.#followers = []
    this.#heard.clear()
    fire(this, new Event('abort'))
    for (const follower of followers) fire(follower, new Event('abort'))
  }
}

defineEventHandler(AbortSignal.prototype, 'abort')

/** DOM standard, 3.1. */
export class AbortController {
  readonly #signal = new AbortSignal(made)

  get signal(): AbortSignal {
    return this.#signal
  }

  abort(reason: unknown = undefined): void {
    abortSignal(this.#signal, reason === undefined ? aborted() : reason)
  }
}

/** A signal that aborts when one of `sources` does; from no sources, one that never does by itself. */
export const createFollowingSignal = (sources: AbortSignal[]): AbortSignal => {
  const signal = new AbortSignal(made)
  if (sources.length > 0) follow(signal, sources)
  return signal
}

/** `AbortSignal.timeout` over the timers of an isolate. */
export const createTimeoutSignal =
  (setTimer: (callback: () => void, delayMs: number) => unknown) =>
  (delayMs: number): AbortSignal => {
    const delay = Number(delayMs)
    if (!(delay >= 0 && delay <= Number.MAX_SAFE_INTEGER)) {
      throw new TypeError('AbortSignal.timeout takes milliseconds, from 0')
    }
    const signal = new AbortSignal(made)
    setTimer(() => abortSignal(signal, timedOut()), delay)
    return signal
  }

const aborted = () => new DOMException('This operation was aborted', 'AbortError')
const timedOut = () => new DOMException('The operation was aborted due to timeout', 'TimeoutError')
