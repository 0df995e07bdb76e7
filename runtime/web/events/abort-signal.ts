import { DOMException } from './dom-exception.ts'
import { Event } from './event.ts'
import { type EventListener, EventTarget, hasListener, type ListenerOptions } from './event-target.ts'

const made = Symbol('made by the prelude')

let abortSignal: (signal: AbortSignal, reason: unknown) => void
let follow: (signal: AbortSignal, sources: AbortSignal[]) => void

/** DOM standard, 3.2. `AbortSignal.timeout` is added where the timers are (globals.ts). */
export class AbortSignal extends EventTarget {
  #aborted = false
  #reason: unknown
  #onabort: ((event: Event) => unknown) | null = null
  readonly #sources: AbortSignal[] = []
  /**
   * Signals that follow this one. Weak, as a long-lived source outlives thousands of them; those that somebody
   * listens to are held besides.
   */
  #followers: WeakRef<AbortSignal>[] = []
  readonly #heard = new Set<AbortSignal>()

  static {
    abortSignal = (signal, reason) => signal.#abort(reason)
    follow = (signal, sources) => signal.#follow(sources)
  }

  constructor(key?: unknown) {
    super()
    if (key !== made) throw new TypeError('Illegal constructor: an AbortSignal comes from an AbortController')
  }

  static abort(reason?: unknown): AbortSignal {
    const signal = new AbortSignal(made)
    signal.#aborted = true
    signal.#reason = reason ?? aborted()
    return signal
  }

  static any(signals: Iterable<AbortSignal>): AbortSignal {
    return createFollowingSignal([...signals])
  }

  get aborted(): boolean {
    return this.#aborted
  }
  get reason(): unknown {
    return this.#reason
  }
  get onabort(): ((event: Event) => unknown) | null {
    return this.#onabort
  }
  set onabort(handler: unknown) {
    if (this.#onabort !== null) this.removeEventListener('abort', this.#onabort)
    this.#onabort = typeof handler === 'function' ? (handler as (event: Event) => unknown) : null
    if (this.#onabort !== null) this.addEventListener('abort', this.#onabort)
  }

  override addEventListener(type: string, callback: EventListener | null, options?: ListenerOptions): void {
    super.addEventListener(type, callback, options)
    if (hasListener(this, 'abort')) for (const source of this.#sources) source.#heard.add(this)
  }

  override removeEventListener(
    type: string,
    callback: EventListener | null,
    options?: ListenerOptions,
  ): void {
    super.removeEventListener(type, callback, options)
    if (!hasListener(this, 'abort')) for (const source of this.#sources) source.#heard.delete(this)
  }

  throwIfAborted(): void {
    if (this.#aborted) throw this.#reason
  }

  #follow(sources: AbortSignal[]): void {
    for (const source of sources) {
      if (!(source instanceof AbortSignal)) throw new TypeError('AbortSignal.any takes AbortSignals')
      if (!source.#aborted) continue
      this.#aborted = true
      this.#reason = source.#reason
      return
    }
    this.#sources.push(...sources)
    for (const source of sources) {
      source.#followers = source.#followers.filter((follower) => follower.deref() !== undefined)
      source.#followers.push(new WeakRef(this))
    }
  }

  #abort(reason: unknown): void {
    if (this.#aborted) return
    this.#aborted = true
    this.#reason = reason
    const followers = this.#followers
    this.#followers = []
    this.#heard.clear()
    this.dispatchEvent(new Event('abort'))
    for (const follower of followers) {
      const alive = follower.deref()
      if (alive !== undefined) alive.#abort(reason)
    }
  }
}

/** DOM standard, 3.1. */
export class AbortController {
  readonly #signal = new AbortSignal(made)

  get signal(): AbortSignal {
    return this.#signal
  }

  abort(reason?: unknown): void {
    abortSignal(this.#signal, reason ?? aborted())
  }
}

/** A signal that aborts when one of `sources` does; from no sources, one that never does by itself. */
export const createFollowingSignal = (sources: AbortSignal[]): AbortSignal => {
  const signal = new AbortSignal(made)
  follow(signal, sources)
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
    const reason = () => new DOMException('The operation was aborted due to timeout', 'TimeoutError')
    setTimer(() => abortSignal(signal, reason()), delay)
    return signal
  }

const aborted = () => new DOMException('This operation was aborted', 'AbortError')
