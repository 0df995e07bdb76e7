/** The timers of one sandbox. */
export type Timers = {
  /** @param dispatch whose code set it; 0 for code that runs while nothing is handled */
  start: (dispatch: number, id: number, delayMs: number) => void
  clear: (id: number) => void
  clearAll: () => void
}

/** What Node takes for a delay; a longer one would fire at once. */
const longestDelayMs = 2 ** 31 - 1

/**
 * @param fire wakes the code that waits for the timer
 * @param warn tells the script's author that a timer was not set
 * @param maxTimers that wait at once
 */
export function createTimers(
  fire: (dispatch: number, id: number) => void,
  warn: (dispatch: number, text: string) => void,
  maxTimers: number,
): Timers {
  const waiting = new Map<number, NodeJS.Timeout>()
  // Said once until there is room again: a line for each of a million would be work for everybody but the script.
  let refused = false
  const refuse = (dispatch: number, text: string) => {
    if (!refused) warn(dispatch, text)
    refused = true
  }
  return {
    start(dispatch, id, delayMs) {
      if (dispatch === 0) return refuse(0, 'A timer that is set while nothing is handled does not fire.')
      if (waiting.size >= maxTimers)
        return refuse(dispatch, `Timers were not set: ${maxTimers} are waiting already (SANDBOX_TIMERS).`)
      refused = false
      const timer = setTimeout(
        () => {
          waiting.delete(id)
          fire(dispatch, id)
        },
        Math.min(Math.max(0, delayMs), longestDelayMs),
      )
      waiting.set(id, timer)
    },
    clear(id) {
      clearTimeout(waiting.get(id))
      waiting.delete(id)
    },
    clearAll() {
      for (const timer of waiting.values()) clearTimeout(timer)
      waiting.clear()
    },
  }
}
