/** What time it is, and when to go on: wall-clock times are stored, waits are not shortened when a clock jumps. */
export type Clock = {
  /** Unix ms. */
  now: () => number
  /** Runs something in `ms`. @returns calls it off */
  after: (ms: number, run: () => void) => () => void
}

export const systemClock: Clock = {
  now: Date.now,
  after(ms, run) {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
}
