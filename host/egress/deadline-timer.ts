/** A turn of the event loop on a busy machine. A timer that is later than this had a host that did not run. */
const turnMs = 50

/**
 * Calls `onOver` after `ms` in which the host ran. A host that was stopped (SIGSTOP, a machine that slept) finds its timer over at
 * once: it first reads what arrived meanwhile, and the other side then gets the time by which the timer was late, at most `ms`
 * once more.
 *
 * @returns ends the timer
 */
export function startDeadline(ms: number, onOver: () => void): () => void {
  let spareMs = ms
  let dueAt = performance.now() + ms
  let timer = setTimeout(expire, ms)
  let reading: NodeJS.Immediate | undefined
  return () => {
    clearTimeout(timer)
    clearImmediate(reading)
  }

  function expire(): void {
    const lateMs = performance.now() - dueAt
    // Timers come before sockets in a turn of the event loop, and immediates after them.
    reading = setImmediate(() => {
      if (lateMs < turnMs || spareMs <= 0) return onOver()
      const moreMs = Math.min(lateMs, spareMs)
      spareMs -= moreMs
      dueAt = performance.now() + moreMs
      timer = setTimeout(expire, moreMs)
    })
  }
}
