import type { Wire } from './bridge/wire.ts'
import { mathFloor } from './primordials.ts'

/**
 * High Resolution Time, in whole milliseconds: a finer clock is what timing attacks on neighbours in the same
 * process need. The clock is the process's, so that it can be made coarser there.
 */
export const createPerformance = (wire: Wire): object => {
  const timeOrigin = () => mathFloor(Number(wire.ask('time-origin')))
  return Object.defineProperties(
    {},
    {
      now: { value: () => mathFloor(Number(wire.ask('now'))), enumerable: true, writable: true },
      timeOrigin: { get: timeOrigin, enumerable: true },
      toJSON: { value: () => ({ timeOrigin: timeOrigin() }), writable: true },
      [Symbol.toStringTag]: { value: 'Performance' },
    },
  )
}
