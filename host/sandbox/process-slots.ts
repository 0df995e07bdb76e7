import { createHash } from 'node:crypto'
import { coarsenTimers, lowerPriority } from './process/proc.ts'
import type { SandboxProcess } from './sandbox-process.ts'
import type { SandboxTarget } from './target.ts'

/**
 * The processes by slot, and one spare that can take any slot, where the operator keeps one: a request does not wait for a
 * process to start. A slot is `GROUP#NUMBER` for a shared process, `GROUP!KEY` for the process of a script that runs alone.
 */
export type ProcessSlots = {
  /** The process that a target shares with others. */
  shared: (target: SandboxTarget) => SandboxProcess
  /**
   * The process that a target has alone. It ends when it was not used for two minutes, or when another target needs its slot.
   *
   * @returns undefined while too many others run alone
   */
  alone: (target: SandboxTarget) => SandboxProcess | undefined
  /** Frees the slot of a process that has ended or was retired. @returns the slot, where it had one */
  free: (ended: SandboxProcess) => string | undefined
  /** Starts the process of a shared slot before it is asked for. */
  restart: (slot: string) => void
  list: () => { slot: string; process: SandboxProcess }[]
  /** Starts no more spares. */
  stop: () => void
}

/** Longer than a dispatch and its `waitUntil` together. */
const aloneIdleMs = 120_000
/** The next spare starts so much later, and leaves the processors to processes that requests wait for. */
const spareDelayMs = 1_000
const spare = 'spare'
/**
 * As `nice` counts. The host comes first, then shared processes, then scripts that run alone because they took too much. At
 * 19 one foreign process would leave a script 1 % of a processor; at 10 it leaves 10 %.
 */
const sharedNice = 5
const aloneNice = 10

export function createProcessSlots(given: {
  start: () => SandboxProcess
  /** Processes of the operator's own integrations, and of each other publisher. */
  perPublisher: number
  /** Processes of all other publishers together, and as many again of scripts that run alone. */
  most: number
  keepsSpare: boolean
}): ProcessSlots {
  const { start, perPublisher, most, keepsSpare } = given
  const slots = new Map<string, SandboxProcess>()
  /** Processes of scripts that run alone, the one that was used least recently first. */
  const lone = new Map<string, { group: SandboxTarget['group']; idleTimer: NodeJS.Timeout }>()
  const running = (slot: string) => slots.get(slot)?.running() ?? 0
  const sharedSlot = createSharedSlots({ perPublisher, most, running })
  let isStopped = false
  startSpare()
  return {
    shared: (target) => processIn(sharedSlot(target), sharedNice),
    alone(target) {
      const slot = aloneSlot(target)
      if (!slots.has(slot) && !makeRoomAlone(target.group)) return undefined
      clearTimeout(lone.get(slot)?.idleTimer)
      lone.delete(slot)
      lone.set(slot, { group: target.group, idleTimer: setTimeout(retire, aloneIdleMs, slot).unref() })
      return processIn(slot, aloneNice)
    },
    free(ended) {
      for (const [slot, process] of slots) {
        if (process !== ended) continue
        slots.delete(slot)
        clearTimeout(lone.get(slot)?.idleTimer)
        lone.delete(slot)
        return slot
      }
      return undefined
    },
    restart: (slot) => void processIn(slot, sharedNice),
    list: () => [...slots].map(([slot, process]) => ({ slot, process })),
    stop() {
      isStopped = true
      for (const { idleTimer } of lone.values()) clearTimeout(idleTimer)
    },
  }

  function processIn(slot: string, nice: number): SandboxProcess {
    const found = slots.get(slot)
    if (found !== undefined) return found
    const fresh = slots.get(spare) ?? start()
    slots.delete(spare)
    slots.set(slot, fresh)
    if (fresh.pid !== undefined) {
      lowerPriority(fresh.pid, nice)
      coarsenTimers(fresh.pid)
    }
    if (keepsSpare) setTimeout(startSpare, spareDelayMs).unref()
    return fresh
  }

  /**
   * Bounds the processes of scripts that run alone: each script of a hostile publisher can ask for one. A publisher has at
   * most half of the processes of all other publishers.
   *
   * @returns false while all processes that could make room are in use
   */
  function makeRoomAlone(group: SandboxTarget['group']): boolean {
    const isOperator = group === 'operator'
    const taken = [...lone].filter(([, one]) => (one.group === 'operator') === isOperator)
    const own = taken.filter(([, one]) => one.group === group)
    const isFull = taken.length >= most
    if (!isFull && (isOperator || own.length < Math.ceil(most / 2))) return true
    const [idle] = (isFull ? taken : own).find(([slot]) => running(slot) === 0) ?? []
    if (idle === undefined) return false
    retire(idle)
    return true
  }

  function retire(slot: string): void {
    clearTimeout(lone.get(slot)?.idleTimer)
    lone.delete(slot)
    const idle = slots.get(slot)
    slots.delete(slot)
    idle?.retire()
  }

  function startSpare(): void {
    if (keepsSpare && !isStopped && !slots.has(spare)) slots.set(spare, start())
  }
}

/**
 * Finds the slot of a target that shares its process. Each publisher has processes of its own, so that a hostile one
 * slows down no other; above the bound, publishers share. An installation keeps its slot: one isolate holds its state.
 */
export function createSharedSlots(given: {
  perPublisher: number
  most: number
  /** Dispatches that run in a slot now. */
  running: (slot: string) => number
}): (target: SandboxTarget) => string {
  const { perPublisher, most, running } = given
  /** The slots of other publishers, by the share of a publisher. */
  const taken = new Map<string, string>()
  return ({ group, key }) => {
    const share = `${group}#${perPublisher === 1 ? 0 : hash(key) % perPublisher}`
    if (group === 'operator') return share
    const found = taken.get(share)
    if (found !== undefined) return found
    const slot = taken.size < most ? `third-party#${taken.size}` : leastBusy()
    taken.set(share, slot)
    return slot
  }

  function leastBusy(): string {
    const shares = new Map<string, number>()
    for (const slot of taken.values()) shares.set(slot, (shares.get(slot) ?? 0) + 1)
    const [slot = 'third-party#0'] = [...shares.keys()].sort(
      (a, b) => running(a) - running(b) || (shares.get(a) ?? 0) - (shares.get(b) ?? 0),
    )
    return slot
  }
}

/** It names no publisher: metrics show a part of the slot. */
export const aloneSlot = ({ group, key }: SandboxTarget): string =>
  `${group === 'operator' ? 'operator' : 'third-party'}!${key}`

const hash = (key: string): number => createHash('sha256').update(key).digest().readUInt32LE(0)
