/** The timers of one sandbox. */
export type Timers = {
  /** @param dispatch 0 for code that runs outside of any dispatch */
  start: (dispatch: number, id: number, delayMs: number) => void
  clear: (id: number) => void
  clearAll: () => void
}

/** Node's limit: a longer delay would fire at once. */
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
  // Logged once until a timer can be set again: a million lines would be work for the host, and not for the script.
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
