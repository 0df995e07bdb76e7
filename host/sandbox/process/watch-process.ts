import type { EndCause } from '../sandbox-errors.ts'
import type { ProcessorUse } from './proc.ts'
import type { BlackBoxRecord, StartedProcess } from './start-process.ts'

const everyMs = 25
const longestLookMs = 4 * everyMs
/**
 * isolated-vm's own time-out comes first, and ends one sandbox alone. It cannot stop one long native operation: that may use
 * as much CPU time again, and this much more, before its process is killed.
 */
const graceMs = 250
/** CPU time of a stretch: dispatches behind a longer one run elsewhere. Above twice the stretch that the process reports itself. */
const stuckMs = 100
const pingEveryMs = 1_000
/** A process that runs no script and does not answer a ping for so long is broken. */
const deafMs = 5_000

export type ProcessWatch = {
  pong: () => void
  /** A script has been loaded, or has answered: a process with much work reads a ping late, and is not silent. */
  progress: () => void
  /** The CPU time of the last stretch, up to the last look at it. */
  lastStretchMs: () => number
  stop: () => void
}

export type ProcessWatcher = {
  ping: () => void
  /** Called at each check of the process while its script runs for too long without a pause. */
  onStuck: (box: BlackBoxRecord) => void
  onResident: (bytes: number) => void
  /** Called at each check, with the time since the last one, without that in which the process waited for a processor. */
  onTick: (servedMs: number, box: BlackBoxRecord) => void
  /** The process must end. Called once. */
  onOver: (cause: EndCause) => void
}

type Use = ProcessorUse & { nowMs: number }

/**
 * Watches a sandbox process from outside, where no script can reach: the CPU time of one stretch of guest code, resident
 * memory (native memory included), and answers to pings. Time in which the process waits for a processor does not count.
 * Without /proc, wall time counts.
 */
export function watchProcess(
  started: StartedProcess,
  limits: { cpuMs: number; loadMs: number; wallMs: number; residentMb: number },
  watcher: ProcessWatcher,
): ProcessWatch {
  const hasProc = started.processorUse() !== undefined
  let last: Use = { nowMs: performance.now(), cpuMs: 0, isWaiting: false }
  let stretch = 0
  let since = readUse().cpuMs
  let runsMs = 0
  let pingedAt = performance.now()
  let answered = true
  /** Since the ping, without the time in which the process waited for a processor. */
  let silentMs = 0
  const timer = setInterval(() => {
    // CPU time is read before the black box, and after it for a new stretch: never too much is charged to a stretch.
    const use = readUse()
    const box = started.readBlackBox()
    const isBusy = box.sandbox !== 0 || box.stretch !== stretch
    if (box.sandbox === 0 || box.stretch !== stretch) {
      stretch = box.stretch
      since = readUse().cpuMs
    }
    runsMs = Math.max(0, use.cpuMs - since)
    const allowedMs = box.dispatch === 0 ? limits.loadMs : limits.cpuMs
    if (runsMs > 2 * allowedMs + graceMs) return over({ kind: 'cpu_limit' })
    if (runsMs > stuckMs) watcher.onStuck(box)
    const resident = started.residentBytes()
    if (resident > limits.residentMb * 1024 * 1024) return over({ kind: 'memory_limit' })
    watcher.onResident(resident)
    // A host that was too busy to look has not read an answer either.
    const elapsedMs = Math.min(use.nowMs - last.nowMs, longestLookMs)
    const servedMs = use.isWaiting ? use.cpuMs - last.cpuMs : elapsedMs
    last = use
    silentMs += servedMs
    watcher.onTick(servedMs, box)
    // The process writes its black box itself, and may lie. No dispatch waits longer than the wall clock limit.
    const patienceMs = isBusy ? limits.wallMs + deafMs : deafMs
    if (!answered && silentMs > patienceMs) return over({ kind: 'deaf' })
    if (answered && use.nowMs - pingedAt > pingEveryMs) {
      answered = false
      pingedAt = use.nowMs
      silentMs = 0
      watcher.ping()
    }
  }, everyMs)
  timer.unref()
  return {
    pong() {
      answered = true
    },
    progress() {
      silentMs = 0
    },
    lastStretchMs: () => runsMs,
    stop: () => clearInterval(timer),
  }

  function readUse(): Use {
    const nowMs = performance.now()
    if (!hasProc) return { nowMs, cpuMs: nowMs, isWaiting: false }
    // A process that has just ended uses no further CPU time.
    return { nowMs, ...(started.processorUse() ?? { cpuMs: last.cpuMs, isWaiting: false }) }
  }

  function over(cause: EndCause): void {
    clearInterval(timer)
    watcher.onOver(cause)
  }
}
