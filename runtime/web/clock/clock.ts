/**
 * The one clock of an isolate. It shows whole milliseconds, and stands still while code runs: how long an operation
 * took is what an attack on a neighbour in the same process would measure. It shows when the process entered the
 * isolate last (with a dispatch, a timer, an answer), and goes on with the next entry.
 */
export type Clock = {
  /** Milliseconds since 1970. */
  now(): number
  /** When the isolate was booted. */
  origin(): number
  /** The process has entered the isolate. */
  enter(): void
}

const nativeNow = Date.now

/** A clock that has not been started: the snapshot of it holds no time. */
export const createClock = (): Clock => {
  let origin = 0
  let shown = 0
  return {
    now: () => shown,
    origin: () => origin,
    enter() {
      shown = nativeNow()
      // A millisecond ago: what happens at the first entry did not happen at the origin.
      if (origin === 0) origin = shown - 1
    },
  }
}

/** The clock of this isolate. */
export const clock = createClock()

let last = 0

/** Milliseconds since the isolate was booted. It never goes back, also when the system's clock does. */
export const now = (): number => {
  const ms = clock.now() - clock.origin()
  if (ms > last) last = ms
  return last
}
