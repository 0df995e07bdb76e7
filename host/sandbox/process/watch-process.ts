import type { EndCause } from '../sandbox-errors.ts'
import type { BlackBoxRecord, StartedProcess } from './start-process.ts'

const everyMs = 25
/** isolated-vm's own time-out comes first. What it cannot stop (one long native operation) has this much more. */
const graceMs = 250
/** Whoever waits behind a stretch that is longer is served elsewhere. More than twice what the process reports itself. */
const stuckMs = 100
const pingEveryMs = 1_000
/** A process that runs no guest code and yet does not answer for so long is broken. */
const deafMs = 5_000

export type ProcessWatch = {
  pong: () => void
  /** For how long at least the stretch of guest code has run that was seen last. */
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

/**
 * Watches a sandbox process from outside, where no script can reach: the time that it has spent in one stretch of
 * guest code, its resident memory, native memory included, and whether it still listens.
 */
export function watchProcess(
  started: StartedProcess,
  limits: { cpuMs: number; wallMs: number; residentMb: number },
  watcher: ProcessWatcher,
): ProcessWatch {
  let stretch = 0
  let since = performance.now()
  let runsMs = 0
  let pingedAt = performance.now()
  let answered = true
  const timer = setInterval(() => {
    // Before and after the look: this process may be kept from going on in between, and would take a short stretch for a
    // long one. Two looks that are so far apart at the least both saw it, so its process has to report it.
    const beforeMs = performance.now()
    const box = started.readBlackBox()
    const now = performance.now()
    if (box.sandbox === 0 || box.stretch !== stretch) {
      stretch = box.stretch
      since = now
    }
    runsMs = Math.max(0, beforeMs - since)
    if (runsMs > limits.cpuMs + graceMs) return over({ kind: 'cpu_limit' })
    if (runsMs > stuckMs) watcher.onStuck(box)
    const resident = started.residentBytes()
    if (resident > limits.residentMb * 1024 * 1024) return over({ kind: 'memory_limit' })
    watcher.onResident(resident)
    watcher.onTick()
    // The black box is the process's own word. After the wall clock nobody waits for anything that it has.
    const patienceMs = box.sandbox === 0 ? deafMs : limits.wallMs + deafMs
    if (!answered && now - pingedAt > patienceMs) return over({ kind: 'deaf' })
    if (answered && now - pingedAt > pingEveryMs) {
      answered = false
      pingedAt = now
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

  function over(cause: EndCause): void {
    clearInterval(timer)
    watcher.onOver(cause)
  }
}
