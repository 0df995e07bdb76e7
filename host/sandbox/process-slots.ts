import { coarsenTimers } from './process/coarse-timers.ts'
import { lowerPriority } from './process/lower-priority.ts'
import type { SandboxProcess } from './process/running-process.ts'

/**
 * The processes by the slot that they serve, and one more that is ready to take any: starting a process takes longer
 * than anybody should wait. A slot is `GROUP#NUMBER` for a shared process, `GROUP!KEY` for one whose script runs alone.
 */
export type ProcessSlots = {
  in: (slot: string) => SandboxProcess
  /** Dispatches that run in the process of a slot. */
  running: (slot: string) => number
  /** Frees the slot of a process that has ended, or that takes nothing more; its successor comes with the next `in`. */
  free: (ended: SandboxProcess) => string | undefined
  /** A process that runs alone is ended when its script has not been asked for in a while. */
  useAlone: (slot: string) => void
  list: () => { slot: string; process: SandboxProcess }[]
  /** Starts no more spares. */
  stop: () => void
}

/** Longer than a dispatch and its `waitUntil` together. */
const aloneIdleMs = 120_000
/** More than one at a time would only compete with those that are waited for. */
const spareDelayMs = 50
const spare = 'spare'
/**
 * As `nice` counts. The host comes first, then processes that many scripts share, then scripts that run alone because
 * they took too much. At 19 one foreign process would leave a script 1 % of a processor; at 10 it leaves 10 %.
 */
const sharedNice = 5
const aloneNice = 10

export function createProcessSlots(start: () => SandboxProcess): ProcessSlots {
  const slots = new Map<string, SandboxProcess>()
  const idleTimers = new Map<string, NodeJS.Timeout>()
  let isStopped = false
  keepSpare()
  return {
    in(slot) {
      const found = slots.get(slot)
      if (found !== undefined) return found
      const fresh = slots.get(spare) ?? start()
      slots.delete(spare)
      slots.set(slot, fresh)
      if (fresh.pid !== undefined) {
        lowerPriority(fresh.pid, slot.includes('!') ? aloneNice : sharedNice)
        coarsenTimers(fresh.pid)
      }
      setTimeout(keepSpare, spareDelayMs).unref()
      return fresh
    },
    running: (slot) => slots.get(slot)?.running() ?? 0,
    free(ended) {
      for (const [slot, process] of slots) {
        if (process !== ended) continue
        slots.delete(slot)
        return slot
      }
      return undefined
    },
    useAlone(slot) {
      clearTimeout(idleTimers.get(slot))
      const retire = () => {
        idleTimers.delete(slot)
        const idle = slots.get(slot)
        slots.delete(slot)
        idle?.retire()
      }
      idleTimers.set(slot, setTimeout(retire, aloneIdleMs).unref())
    },
    list: () => [...slots].map(([slot, process]) => ({ slot, process })),
    stop() {
      isStopped = true
      for (const timer of idleTimers.values()) clearTimeout(timer)
    },
  }

  function keepSpare(): void {
    if (!isStopped && !slots.has(spare)) slots.set(spare, start())
  }
}
