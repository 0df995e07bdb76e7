import type { EndCause } from '../sandbox-errors.ts'
import type { StartedProcess } from './start-process.ts'

const everyMs = 25
/** isolated-vm's own time-out comes first. What it cannot stop (one long native operation) has this much more. */
const graceMs = 250

/**
 * Watches a sandbox process from outside, where no script can reach: the time that it has spent in one stretch
 * of guest code, and its resident memory, native memory included. Says once that it must end, and why.
 */
export function watchProcess(
  started: StartedProcess,
  limits: { cpuMs: number; residentMb: number },
  onOver: (cause: EndCause) => void,
): () => void {
  let stretch = 0
  let since = performance.now()
  const timer = setInterval(() => {
    const box = started.readBlackBox()
    const now = performance.now()
    if (box.sandbox === 0 || box.stretch !== stretch) {
      stretch = box.stretch
      since = now
    }
    if (now - since > limits.cpuMs + graceMs) return over({ kind: 'cpu_limit' })
    if (started.residentBytes() > limits.residentMb * 1024 * 1024) return over({ kind: 'memory_limit' })
  }, everyMs)
  timer.unref()
  return () => clearInterval(timer)

  function over(cause: EndCause): void {
    clearInterval(timer)
    onOver(cause)
  }
}
