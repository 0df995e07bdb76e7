import type { Db } from '../db/db.ts'
import { addCounts, type DayCounts } from '../db/queries/delivery-counts.ts'
import { createWriteBehind } from '../db/write-behind.ts'
import type { AttemptSeen } from './run-delivery.ts'

export type DeliveryCounts = {
  take: (seen: AttemptSeen) => void
  /** Stores the counts, so that a query finds them. */
  flush: () => Promise<void>
  close: () => Promise<void>
}

const flushEveryMs = 1_000
const dayMs = 86_400_000

/**
 * Counts results of deliveries by receiver and day, and stores them every second. A killed host loses the counts of its
 * last second.
 */
export function createDeliveryCounts(db: Db, onDefect: (error: unknown) => void): DeliveryCounts {
  let counts = new Map<string, DayCounts>()
  const writing = createWriteBehind(store, flushEveryMs, onDefect)
  return {
    take({ receiverId, attempt, state }) {
      const day = Math.floor(Date.now() / dayMs) * dayMs
      const key = `${receiverId} ${day}`
      const found = counts.get(key) ?? { receiverId, day, delivered: 0, failed: 0, attempts: 0 }
      counts.set(key, found)
      if (attempt !== undefined) found.attempts += 1
      if (state !== 'pending') found[state] += 1
      writing.note()
    },
    flush: writing.flush,
    close: writing.close,
  }

  async function store(): Promise<void> {
    const taken = [...counts.values()]
    counts = new Map()
    await addCounts(db, taken)
  }
}
