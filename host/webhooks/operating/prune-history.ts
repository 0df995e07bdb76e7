import { nowOf } from '../../db/database-clock.ts'
import type { Db } from '../../db/db.ts'
import { inSteps, stepSize } from '../../db/in-steps.ts'
import { readSizes, readUsedBytes } from '../../db/queries/operating/history-size.ts'
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
  /** How much text of the newest rows of a table, in bytes; `undefined`: all. */
  bytes: number | undefined
}

/** Rows that are counted at once, and whose text is summed up. */
const countStep = 10_000
const sumStep = 2_500

/**
 * Removes settled deliveries with their attempts, events, failed jobs, and jobs of events that wait for a resume, that are too old, too
 * many or too large, in small steps. Other work that is pending is never touched, however old. Ages go by the clock of due times.
 *
 * @param ending once it is aborted the rest is left for the next time
 * @param reader what sums up a million rows, and holds up nobody by it. Default: the database itself
 * @returns how many rows of each table
 */
export async function pruneHistory(
  db: Db,
  { ageMs, rows, bytes }: Retention,
  ending?: AbortSignal,
  reader = db,
): Promise<Record<Pruned, number>> {
  const nowMs = nowOf(db)
  const pruned = { deliveries: 0, events: 0, jobs: 0, waitingEvents: 0 }
  const isLarge = bytes !== undefined && (await readUsedBytes(reader)) > bytes
  for (const table of prunedTables) {
    const tooMany = rows === undefined ? undefined : await findNewestToGo(db, table, rows, ending)
    const tooLarge = isLarge ? await findNewestTooLarge(reader, table, bytes, ending) : undefined
    const upTo = newerOf(tooMany, tooLarge)
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

/** The place of the newest row that, with all that are newer, has more text than that, summed up in steps. */
async function findNewestTooLarge(
  db: Db,
  table: Pruned,
  bytes: number,
  ending?: AbortSignal,
): Promise<Place | undefined> {
  let before: Place | undefined
  let left = bytes
  let found: Place | undefined
  const step = async () => {
    const rows = await readSizes(db, table, { before, limit: sumStep })
    found = rows.find((row) => {
      left -= row.bytes
      return left < 0
    })?.place
    before = rows.at(-1)?.place
    return { changed: 0, more: found === undefined && rows.length === sumStep }
  }
  await inSteps(step, ending)
  return found
}

function newerOf(one: Place | undefined, other: Place | undefined): Place | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return one > other ? one : other
}
