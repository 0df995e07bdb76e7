import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, setPriority } from 'node:os'

/** Of the main thread of a process. `isWaiting`: it could run, and another task has the processor. */
export type ProcessorUse = { cpuMs: number; isWaiting: boolean }

/** Linux counts CPU time in hundredths of a second on every machine that Node runs on. */
const tickMs = 10
/** 4 KB on x64. An ARM kernel may use 16 or 64 KB: with 4 KB the memory of a process would be read too small. */
const pageBytes = findPageBytes()

/** @returns undefined where the process has ended, or the system has no /proc */
export function readProcessorUse(pid: number | undefined): ProcessorUse | undefined {
  const stat = read(`/proc/${pid}/task/${pid}/stat`)
  // The second field is the name of the program, which may hold any character.
  const [state, , , , , , , , , , , user, system] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (system === undefined) return undefined
  return { cpuMs: (Number(user) + Number(system)) * tickMs, isWaiting: state === 'R' }
}

/** @returns native memory included; 0 where the system has no /proc */
export const readResidentBytes = (pid: number | undefined): number =>
  pid === undefined ? 0 : readResidentPages(pid) * pageBytes

/** @returns how many tasks of this machine compete for each of its processors, at least 1 */
export function readCompetition(): number {
  const running = Number(/ (\d+)\//.exec(read('/proc/loadavg'))?.[1] ?? 1)
  return Math.max(1, running / availableParallelism())
}

function findPageBytes(): number {
  const pages = readResidentPages('self')
  return pages === 0 ? 4096 : 2 ** Math.round(Math.log2(process.memoryUsage.rss() / pages))
}

function readResidentPages(pid: number | 'self'): number {
  return Number(read(`/proc/${pid}/statm`).split(' ')[1] ?? 0)
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** Without root, Linux changes one session in 100 ms at most. */
const againMs = 110
const maxTries = 20

/**
 * Lowers the priority of a process.
 *
 * @param nice as `nice` counts, from 0 to 19. It only rises: lowering it again needs root.
 */
export function lowerPriority(pid: number, nice: number): void {
  try {
    setPriority(pid, nice)
  } catch {
    // The process has ended already.
    return
  }
  lowerSession(pid, nice, 1)
}

/**
 * Outside of services and containers Linux may share the processors by session first (autogroup, see sched(7)). A sandbox
 * process has a session of its own, and would have as much CPU time as the whole host, whatever its priority.
 */
function lowerSession(pid: number, nice: number, tries: number): void {
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(nice))
  } catch (error) {
    const isTooSoon = (error as NodeJS.ErrnoException).code === 'EAGAIN'
    if (isTooSoon && tries < maxTries) setTimeout(lowerSession, againMs, pid, nice, tries + 1).unref()
    // Any other error: this system does not share by session.
  }
}

/** How late a timer may fire. The shortest time-out of a stretch is 25 times as long. */
const slackNs = 2_000_000

/**
 * Lets the kernel (Linux) fire all timers of 2 ms together. isolated-vm keeps the timer of each stretch until its time-out, and
 * its thread woke for each, which took a quarter of the process's CPU time. New threads inherit the slack.
 */
export function coarsenTimers(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/timerslack_ns`, String(slackNs))
  } catch {
    // Another system, or no permission: timers stay exact.
  }
}
