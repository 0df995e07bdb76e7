import { createHash } from 'node:crypto'
import type { SandboxTarget } from './target.ts'

/**
 * Finds the slot of a target that shares its process. Each publisher has processes of its own, so that a hostile one
 * slows down no other; above the bound, publishers share. An installation keeps its slot: one isolate holds its state.
 */
export function createSharedSlots(given: {
  /** Processes of the operator's own integrations, and of each other publisher. */
  perPublisher: number
  /** Processes of all other publishers together. */
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

/** The slot of a script that runs alone. It names no publisher: metrics show a part of it. */
export const aloneSlot = ({ group, key }: SandboxTarget): string =>
  `${group === 'operator' ? 'operator' : 'third-party'}!${key}`

const hash = (key: string): number => createHash('sha256').update(key).digest().readUInt32LE(0)
