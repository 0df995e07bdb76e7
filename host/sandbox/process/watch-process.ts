import type { EndCause } from '../sandbox-errors.ts'
import type { ProcessorUse } from './proc.ts'
import type { BlackBoxRecord, StartedProcess } from './start-process.ts'

const everyMs = 25
const longestLookMs = 4 * everyMs
/**
 * isolated-vm's own time-out comes first, and ends one sandbox alone. An operation that it cannot stop (one long native
 * one) may use as much CPU time again, and this much more, before its process is killed.
 */
const graceMs = 250
/** CPU time of a stretch; those who wait behind a longer one are served elsewhere. More than twice what the process reports itself. */
const stuckMs = 100
const pingEveryMs = 1_000
/** A process that runs no script and yet does not answer for so long is broken. */
const deafMs = 5_000

export type ProcessWatch = {
  pong: () => void
  /** The CPU time of the stretch that was seen last, as far as it was seen. */
  lastStretchMs: () => number
  stop: () => void
}

export type ProcessWatcher = {
  ping: () => void
  /** Again and again while a stretch is long. */
  onStuck: (box: BlackBoxRecord) => void
  onResident: (bytes: number) => void
  /** Each time that it is looked at. */
  onTick: () => void
  /** It must end, and why. Said once. */
  onOver: (cause: EndCause) => void
}

type Use = ProcessorUse & { nowMs: number }

/**
 * Watches a sandbox process from outside, where no script can reach: the CPU time that it has used in one stretch of
 * guest code, its resident memory, native memory included, and whether it still listens. Time in which a process waits
 * for a processor does not count. Where the system has no /proc, all of the wall clock counts.
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
    // Before and after the look: all CPU time in between belongs to the stretch that two looks have found.
    const use = readUse()
    const box = started.readBlackBox()
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
    watcher.onTick()
    // A host that was kept from looking has not heard the process either.
    const elapsedMs = Math.min(use.nowMs - last.nowMs, longestLookMs)
    silentMs += use.isWaiting ? use.cpuMs - last.cpuMs : elapsedMs
    last = use
    // The black box is the process's own word. No dispatch waits longer than the wall clock.
    const patienceMs = box.sandbox === 0 ? deafMs : limits.wallMs + deafMs
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
    lastStretchMs: () => runsMs,
    stop: () => clearInterval(timer),
  }

  function readUse(): Use {
    const nowMs = performance.now()
    if (!hasProc) return { nowMs, cpuMs: nowMs, isWaiting: false }
    // A process that has just ended uses no more.
    return { nowMs, ...(started.processorUse() ?? { cpuMs: last.cpuMs, isWaiting: false }) }
  }

  function over(cause: EndCause): void {
    clearInterval(timer)
    watcher.onOver(cause)
  }
}
