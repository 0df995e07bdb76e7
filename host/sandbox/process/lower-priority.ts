import { writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'

/** The system lets who is not root change no more than one session in 100 ms. */
const againMs = 110
const mostTries = 20

/**
 * Lets others have the processors first.
 *
 * @param nice as `nice` counts, from 0 to 19: a higher one than before, as the way back is for root alone
 */
export function lowerPriority(pid: number, nice: number): void {
  try {
    setPriority(pid, nice)
  } catch {
    // It has ended already.
    return
  }
  lowerSession(pid, nice, 1)
}

/**
 * Where Linux shares the processors by session first (autogroup, see sched(7)), as it does outside of services and
 * containers, a process that has a session of its own has as much of them as all of the host, whatever its own priority.
 */
function lowerSession(pid: number, nice: number, tries: number): void {
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(nice))
  } catch (error) {
    const isTooSoon = (error as NodeJS.ErrnoException).code === 'EAGAIN'
    if (isTooSoon && tries < mostTries) setTimeout(lowerSession, againMs, pid, nice, tries + 1).unref()
    // Else another system, or one that does not share by session.
  }
}
