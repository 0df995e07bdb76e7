import type { Db } from '../db.ts'
import { isPostgres, jsonRows, rawRows } from '../sql.ts'

let lastPosition = 0

/** When a job was queued, in µs since 1970; for a scheduled task, when it is due first. */
export const positionAt = (ms: number): number => ms * 1_000

/** The place of a job in its lane: when it was queued, and greater than the place before it. */
export function nextPosition(nowMs: number): number {
  lastPosition = Math.max(lastPosition + 1, positionAt(nowMs))
  return lastPosition
}

/**
 * Makes the next positions greater than all in these lanes, whatever the clock of the host that stored them said. On
 * PostgreSQL no other transaction stores in the lanes until this one ends: a job with a lower position that is committed
 * later would run beside another one of its lane.
 */
export async function comeAfter(db: Db, lanes: readonly string[]): Promise<void> {
  const given = [JSON.stringify(lanes.map((lane) => ({ lane })))]
  const rows = jsonRows(db, 'given', { lane: 'text' })
  // All take them in the same order.
  const lock = "pg_advisory_xact_lock(hashtextextended('annex lane ' || lane, 0))"
  if (isPostgres(db))
    await db.raw(`select ${lock} from (select lane from ${rows} order by lane) as given`, given)
  // A statement of its own: it sees what was committed while it waited for the lock.
  const last = 'select position from jobs where lane = given.lane and ordered order by position desc limit 1'
  const [row] = await rawRows<{ last: number | null }>(
    db,
    `select max(position) as last from (select (${last}) as position from ${rows}) as lasts`,
    given,
  )
  lastPosition = Math.max(lastPosition, Number(row?.last ?? 0))
}
