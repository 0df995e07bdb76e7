import type { Db } from '../db/db.ts'
import { addMissedCalls } from '../db/queries/reach.ts'
import { createWriteBehind } from '../db/write-behind.ts'

/** Calls that arrive together are stored together. */
const afterMs = 1_000

/** Counts the calls of a waiting version that did not reach installations, for their people. */
export type MissedCalls = {
  /** Counts one call for each installation. The call does not wait for it. */
  note: (installationIds: readonly string[]) => void
  close: () => Promise<void>
}

export function createMissedCalls(db: Db, onDefect: (error: unknown) => void): MissedCalls {
  let missed = new Map<string, number>()
  const behind = createWriteBehind(store, afterMs, onDefect)
  return {
    note(ids) {
      for (const id of ids) missed.set(id, (missed.get(id) ?? 0) + 1)
      if (ids.length > 0) behind.note()
    },
    close: behind.close,
  }

  async function store(): Promise<void> {
    const byCount = Map.groupBy(missed, ([, count]) => count)
    missed = new Map()
    for (const [count, entries] of byCount)
      await addMissedCalls(
        db,
        entries.map(([id]) => id),
        count,
      )
  }
}
