import type { Db } from '../../db/db.ts'
import { releaseForgotten } from './change-endpoint.ts'
import { pruneHistory, type Retention } from './prune-history.ts'

const firstRoundMs = 5_000
const roundMs = 10 * 60_000

/**
 * What has to be done now and then: deliveries are released that a resume has left behind, and history is pruned.
 *
 * @returns ends it
 */
export function keepHouse(given: {
  db: Db
  retention: Retention
  wake: () => void
  onDefect: (error: unknown) => void
}): () => Promise<void> {
  const { db, retention, wake, onDefect } = given
  let closed = false
  let running = Promise.resolve()
  let timer = setTimeout(round, firstRoundMs)
  return async () => {
    closed = true
    clearTimeout(timer)
    await running
  }

  function round(): void {
    running = work()
      .catch(onDefect)
      .then(() => {
        if (!closed) timer = setTimeout(round, roundMs)
      })
  }

  async function work(): Promise<void> {
    await releaseForgotten(db, wake)
    if (!closed) await pruneHistory(db, retention, Date.now())
  }
}
