import { nowOf } from '../db/database-clock.ts'
import type { Db } from '../db/db.ts'
import { firstIdAt } from '../db/ids.ts'
import { inSteps, stepSize } from '../db/in-steps.ts'
import { deleteOldAudit } from '../db/queries/audit.ts'
import {
  findPositionBefore,
  isOnlyPruner,
  type Pruned,
  prunedTables,
  pruneSome,
  type RowPosition,
  readSizes,
  readUsedBytes,
} from '../db/queries/prune.ts'
import { deleteRemoved } from '../db/queries/uninstall.ts'
import { transact } from '../db/sql.ts'

/** Limits of kept history. */
export type Retention = {
  /** Time since the end of a record, in ms; `undefined`: no limit. */
  ageMs: number | undefined
  /** Number of the newest rows of a table; `undefined`: no limit. */
  rows: number | undefined
  /** Bytes of text in the newest rows of a table; `undefined`: no limit. */
  bytes: number | undefined
}

/** Rows that a step counts, and rows whose text it sums up. */
const countStep = 10_000
const sumStep = 2_500

/**
 * Removes history that is too old, too long or too large, in small steps: settled deliveries with their attempts, events,
 * failed jobs, and jobs of events that wait for a resume. No other pending work is removed. Ages go by the clock of due
 * times.
 *
 * @param ending once it is aborted, the next round does the rest
 * @param reader the connection that sums up texts. Default: `db`
 * @returns the number of removed rows of each table
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
    let after: RowPosition | undefined
    const step = () =>
      transact(db, async (transaction) => {
        if (!(await isOnlyPruner(transaction))) return { changed: 0, more: false }
        const given = { old: { upTo, endedBefore }, after, limit: stepSize }
        const { changed, reached } = await pruneSome(transaction, table, given)
        after = reached
        return { changed, more: reached !== undefined }
      })
    pruned[table] = await inSteps(step, ending)
  }
  if (ageMs !== undefined) {
    await deleteRemoved(db, nowMs - ageMs)
    await deleteOldAudit(db, firstIdAt('aud', nowMs - ageMs))
  }
  return pruned
}

/** Finds in steps the newest row beyond the newest `rows`. */
async function findNewestToGo(
  db: Db,
  table: Pruned,
  rows: number,
  ending?: AbortSignal,
): Promise<RowPosition | undefined> {
  let position: RowPosition | undefined
  let left = rows
  const step = async () => {
    const count = Math.min(left, countStep)
    left -= count
    position = await findPositionBefore(db, table, position, count)
    return { changed: 0, more: left > 0 && position !== undefined }
  }
  await inSteps(step, ending)
  // An aborted count must not prune: this position would remove too many rows.
  return left > 0 ? undefined : position
}

/** Finds in steps the newest row at which the text of it and of all newer rows exceeds `bytes`. */
async function findNewestTooLarge(
  db: Db,
  table: Pruned,
  bytes: number,
  ending?: AbortSignal,
): Promise<RowPosition | undefined> {
  let before: RowPosition | undefined
  let left = bytes
  let found: RowPosition | undefined
  const step = async () => {
    const rows = await readSizes(db, table, { before, limit: sumStep })
    found = rows.find((row) => {
      left -= row.bytes
      return left < 0
    })?.position
    before = rows.at(-1)?.position
    return { changed: 0, more: found === undefined && rows.length === sumStep }
  }
  await inSteps(step, ending)
  return found
}

function newerOf(one: RowPosition | undefined, other: RowPosition | undefined): RowPosition | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return one > other ? one : other
}
