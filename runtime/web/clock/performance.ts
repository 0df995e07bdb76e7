import type { Clock } from './clock.ts'

/** High Resolution Time, 4, with the clock of the isolate: it never goes back, also when the system's does. */
export const createPerformance = (clock: Clock): object => {
  let last = 0
  const now = (): number => {
    const ms = clock.now() - clock.origin()
    if (ms > last) last = ms
    return last
  }
  return Object.defineProperties(
    {},
    {
      now: { value: now, enumerable: true, writable: true },
      timeOrigin: { get: () => clock.origin(), enumerable: true },
      toJSON: { value: () => ({ timeOrigin: clock.origin() }), writable: true },
      [Symbol.toStringTag]: { value: 'Performance' },
    },
  )
}
