import { CryptoCallError } from './crypto-error.ts'

/** The time of Node's threads that each dispatch of a sandbox has used. */
export type ThreadTime = {
  /** Throws an OperationError when nothing is left. */
  assertLeft: (dispatch: number) => void
  spend: (dispatch: number, ms: number) => void
}

/** Above it those that are over are forgotten. */
const maxRemembered = 256

/**
 * An operation in a thread cannot be stopped, so the one that passes the limit ends, and the next one is refused. No
 * dispatch is ended for it: what it has used is a thread that others had no turn for, and not the one that runs them.
 */
export const createThreadTime = (limitMs: number, isLive: (dispatch: number) => boolean): ThreadTime => {
  const spentMs = new Map<number, number>()
  return {
    assertLeft(dispatch) {
      if ((spentMs.get(dispatch) ?? 0) < limitMs) return
      throw new CryptoCallError(
        'OperationError',
        `This dispatch has used ${limitMs} ms of cryptography, ten times its CPU time (SANDBOX_CPU_MS)`,
      )
    },
    spend(dispatch, ms) {
      spentMs.set(dispatch, (spentMs.get(dispatch) ?? 0) + ms)
      if (spentMs.size <= maxRemembered) return
      for (const one of spentMs.keys()) if (!isLive(one)) spentMs.delete(one)
    },
  }
}

/** Tells how much CPU time an operation in Node's threads has used. */
export type ThreadClock = {
  /** Begins to count. What it returns is called once, and returns the CPU time since, in ms. */
  start: () => () => number
}

type Running = { usedMs: number }

/**
 * CPU time and not time that passed: an operation waits for a processor, and its end for the thread of all sandboxes. No
 * system tells the time of one operation, so those that run at the same time share what the threads have used.
 */
export const createThreadClock = (now: () => number = readThreadsCpuMs): ThreadClock => {
  const running = new Set<Running>()
  let readMs = now()
  const shareOut = (): void => {
    const nowMs = now()
    const share = Math.max(0, nowMs - readMs) / running.size
    for (const one of running) one.usedMs += share
    readMs = nowMs
  }
  return {
    start() {
      shareOut()
      const one: Running = { usedMs: 0 }
      running.add(one)
      return () => {
        shareOut()
        running.delete(one)
        return one.usedMs
      }
    },
  }
}

/** Of all threads but this one. */
function readThreadsCpuMs(): number {
  const all = process.cpuUsage()
  const own = process.threadCpuUsage()
  return (all.user + all.system - own.user - own.system) / 1000
}
