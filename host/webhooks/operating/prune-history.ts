import { nowOf } from '../../db/database-clock.ts'
import type { Db } from '../../db/db.ts'
import { inSteps, stepSize } from '../../db/in-steps.ts'
import {
  findPlaceBefore,
  isOnlyPruner,
  type Place,
  type Pruned,
  prunedTables,
  pruneSome,
} from '../../db/queries/operating/prune.ts'

/** What is kept of history. */
export type Retention = {
  /** How long after its end, in ms; `undefined`: for ever. */
  ageMs: number | undefined
  /** How many of the newest rows of a table; `undefined`: all. */
  rows: number | undefined
}

/** Rows that are counted at once. */
const countStep = 10_000

/**
 * Removes settled deliveries with their attempts, events and failed jobs that are too old or too many, in small steps.
 * What is owed is never touched, however old. How old it is goes by the clock of due times.
 *
 * @param ending once it is aborted the rest is left for the next time
 * @returns how many rows of each table
 */
export async function pruneHistory(
  db: Db,
  { ageMs, rows }: Retention,
  ending?: AbortSignal,
): Promise<Record<Pruned, number>> {
  const nowMs = nowOf(db)
  const pruned = { deliveries: 0, events: 0, jobs: 0 }
  for (const table of prunedTables) {
    const upTo = rows === undefined ? undefined : await findNewestToGo(db, table, rows, ending)
    const endedBefore = ageMs === undefined ? undefined : nowMs - ageMs
    if (upTo === undefined && endedBefore === undefined) continue
    let after: Place | undefined
    const step = () =>
      db.transaction(async (transaction) => {
        if (!(await isOnlyPruner(transaction))) return { changed: 0, more: false }
        const given = { old: { upTo, endedBefore }, after, limit: stepSize }
        const { changed, reached } = await pruneSome(transaction, table, given)
        after = reached
        return { changed, more: reached !== undefined }
      })
    pruned[table] = await inSteps(step, ending)
  }
  return pruned
}

/** The place of the newest row after which `rows` are left, found in steps. */
async function findNewestToGo(
  db: Db,
  table: Pruned,
  rows: number,
  ending?: AbortSignal,
): Promise<Place | undefined> {
  let place: Place | undefined
  let left = rows
  const step = async () => {
    const count = Math.min(left, countStep)
    left -= count
    place = await findPlaceBefore(db, table, place, count)
    return { changed: 0, more: left > 0 && place !== undefined }
  }
  await inSteps(step, ending)
  // Half way, too much would be old.
  return left > 0 ? undefined : place
}
