import { idleMs } from '../accounts/sessions.ts'
import type { Settings } from '../config/load-settings.ts'
import { pruneContent } from '../content/prune-revisions.ts'
import type { Db } from '../db/db.ts'
import { releaseForgotten } from '../db/queries/release-waiting.ts'
import { pruneSignIns } from '../db/queries/sessions.ts'
import { expireHeld } from '../installations/expire-held.ts'
import { pruneUses } from '../installations/permission-uses.ts'
import { pruneStores } from '../installations/storage.ts'
import { pruneHistory, type Retention } from './prune-history.ts'

const firstRoundMs = 5_000
const roundMs = 10 * 60_000

/**
 * Every ten minutes releases jobs that an interrupted resume has left waiting, and prunes history, old revisions, stored values,
 * counts of used permissions, accounts that were held too long, and sessions.
 *
 * @returns stops after the current step. The next round of any host does the rest
 */
export function runMaintenance(given: {
  db: Db
  longReader: Db
  settings: Settings
  onDefect: (error: unknown) => void
}): () => Promise<void> {
  const { db, longReader, onDefect } = given
  const retention = toRetention(given.settings)
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
    await releaseForgotten(db, ending.signal)
    await pruneStores(db, ending.signal)
    await pruneUses(db)
    await expireHeld(db, longReader, { signal: ending.signal })
    const now = Date.now()
    await pruneSignIns(db, { now, usedBefore: now - idleMs })
    await pruneHistory(db, retention, ending.signal, longReader)
    await pruneContent(db, retention.ageMs, ending.signal)
  }
}

/** A setting of 0 is no limit. */
function toRetention({ RETENTION_DAYS, RETENTION_ROWS, RETENTION_MB }: Settings): Retention {
  const limit = (value: number, unit: number) => (value === 0 ? undefined : value * unit)
  return {
    ageMs: limit(RETENTION_DAYS, 86_400_000),
    rows: limit(RETENTION_ROWS, 1),
    bytes: limit(RETENTION_MB, 1024 * 1024),
  }
}
