import type { Receipt } from '../receipt.ts'
import type { Usage } from './live-dispatches.ts'

/** Receipts of dispatches that were given up: what they have used, their process says a moment later. */
export type LateUsage = {
  wait: (dispatch: number, receipt: Receipt) => void
  tell: (dispatch: number, usage: Usage) => void
  /** Waits no longer for a process that has had its time. */
  giveUpOld: () => void
  giveUpAll: () => void
  isEmpty: () => boolean
}

/** Longer than a stretch of guest code may be, at the end of which its process reads what was sent to it. */
const patienceMs = 5_000

export function createLateUsage(onReceipt: (receipt: Receipt) => void): LateUsage {
  /** The oldest first. */
  const waiting = new Map<number, { receipt: Receipt; untilMs: number }>()
  return {
    wait(dispatch, receipt) {
      waiting.set(dispatch, { receipt, untilMs: performance.now() + patienceMs })
    },
    tell(dispatch, { cpuMs, heapBytes }) {
      const found = waiting.get(dispatch)
      if (found === undefined) return
      waiting.delete(dispatch)
      onReceipt({ ...found.receipt, cpuMs, heapBytes })
    },
    giveUpOld() {
      if (waiting.size > 0) giveUp(performance.now())
    },
    giveUpAll: () => giveUp(Number.POSITIVE_INFINITY),
    isEmpty: () => waiting.size === 0,
  }

  function giveUp(nowMs: number): void {
    for (const [dispatch, { receipt, untilMs }] of waiting) {
      if (untilMs > nowMs) return
      waiting.delete(dispatch)
      onReceipt(receipt)
    }
  }
}
