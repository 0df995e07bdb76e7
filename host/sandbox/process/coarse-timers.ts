import { writeFileSync } from 'node:fs'

/** How late a timer may be. The least time-out that there can be is 25 times as long. */
const slackNs = 2_000_000

/**
 * isolated-vm keeps the timer of each stretch until its time-out would have come, and its thread wakes for every one,
 * which took a quarter of the process's time. With slack, the kernel (Linux) lets it wake once for all timers of 2 ms;
 * threads have the slack of the one that starts them. Where the system does not allow it, all works as well, but slower.
 */
export function coarsenTimers(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/timerslack_ns`, String(slackNs))
  } catch {
    // Another system, or a process that this one has no power over.
  }
}
