import type { Db } from '../../db/db.ts'
import { releaseForgotten } from '../../db/release-waiting.ts'
import { pruneHistory, type Retention } from './prune-history.ts'

const firstRoundMs = 5_000
const roundMs = 10 * 60_000

/**
 * What has to be done now and then: what a resume has left behind is released, and history is pruned.
 *
 * @returns ends it, within a step: the rest is done by the next round of some host
 */
export function keepHouse(given: {
  db: Db
  longReader: Db
  retention: Retention
  wake: () => void
  onDefect: (error: unknown) => void
}): () => Promise<void> {
  const { db, longReader, retention, wake, onDefect } = given
  const ending = new AbortController()
  let running = Promise.resolve()
  let timer = setTimeout(round, firstRoundMs)
  return async () => {
    ending.abort()
    clearTimeout(timer)
    await running
  }

  function round(): void {
    running = work()
      .catch(onDefect)
      .then(() => {
        if (!ending.signal.aborted) timer = setTimeout(round, roundMs)
      })
  }

  async function work(): Promise<void> {
    await releaseForgotten(db, wake, ending.signal)
    await pruneHistory(db, retention, ending.signal, longReader)
  }
}
