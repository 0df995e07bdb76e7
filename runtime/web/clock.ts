import { ask } from './ask.ts'
import { mathFloor } from './primordials.ts'

/** High Resolution Time: milliseconds since the epoch, whole. A finer clock would measure neighbours. */
export const timeOrigin = (): number => mathFloor(ask('time-origin'))

/** Whole milliseconds since the time origin. The clock is the process's, so that it can be made coarser there. */
export const now = (): number => mathFloor(ask('now')) - timeOrigin()
