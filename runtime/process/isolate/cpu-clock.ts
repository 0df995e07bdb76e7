/**
 * CPU time of the thread that runs all isolates. isolated-vm knows wall clocks only (`isolate.cpuTime` and its
 * `timeout`), and on a busy machine a script gets a part of the wall clock.
 */
export type CpuClock = {
  /** @returns when the stretch began, in ms, for `stop` */
  start: () => number
  /** @returns the CPU time that the thread has used since, in ms */
  stop: (startedMs: number) => number
  /** How long a stretch may take by the wall clock, in ms, to use so much CPU time on this machine. */
  wallFor: (cpuMs: number, longestMs: number) => number
  /** The host's view of the machine: how many tasks compete for one processor. */
  setCompetition: (tasksPerProcessor: number) => void
}

/** A reading of the thread's clock costs about 1 µs, and is good for so long: a stretch may be charged this much too much. */
const freshMs = 5
/** A shorter stretch is charged by the wall clock. */
const quickMs = 1
/** A stretch is long enough to tell how much of the wall clock the machine grants. */
const tellingMs = 20
/** An observed slowdown holds for so long. */
const rememberedMs = 10_000
/** A process at a lower priority gets less than its share. */
const lowPriority = 1.5
/** The wall clock may run ahead of CPU time by so much on a machine that does nothing else. */
const leastSlowdown = 1.25

export function createCpuClock(
  wallNow: () => number = () => performance.now(),
  cpuNow: () => number = readThreadCpuMs,
): CpuClock {
  let cpuMs = cpuNow()
  let readAtMs = wallNow()
  let competition = 1
  let observed = 1
  let observedAtMs = -rememberedMs
  return {
    start() {
      const now = wallNow()
      if (now - readAtMs > freshMs) {
        cpuMs = cpuNow()
        readAtMs = now
      }
      return now
    },
    stop(startedMs) {
      const now = wallNow()
      const wallMs = now - startedMs
      if (wallMs < quickMs) return wallMs
      const before = cpuMs
      cpuMs = cpuNow()
      readAtMs = now
      const usedMs = Math.min(wallMs, cpuMs - before)
      if (wallMs > tellingMs) {
        observed = wallMs / Math.max(1, usedMs)
        observedAtMs = now
      }
      return usedMs
    },
    wallFor(cpuMs, longestMs) {
      const remembered = wallNow() - observedAtMs < rememberedMs ? observed : 1
      const seen = Math.max(competition, remembered)
      const slowdown = seen > leastSlowdown ? lowPriority * seen : leastSlowdown
      return Math.max(1, Math.ceil(Math.min(longestMs, cpuMs * slowdown)))
    },
    setCompetition(tasksPerProcessor) {
      competition = tasksPerProcessor
    },
  }
}

/**
 * Linux brings the time of a running thread up to date at its ticks, every 4 ms: a script of many short stretches would be
 * charged too little. To ask for the time of the whole process brings that of the asking thread up to date.
 */
function readThreadCpuMs(): number {
  process.cpuUsage()
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
