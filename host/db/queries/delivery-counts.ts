import type { Db } from '../db.ts'
import { jsonRows } from '../sql.ts'

/** Results of an endpoint's deliveries on a UTC day (Unix ms). They remain when the deliveries are pruned. */
export type DayCounts = {
  endpointId: string
  day: number
  delivered: number
  failed: number
  attempts: number
}

const columns = {
  endpointId: 'text',
  day: 'bigint',
  delivered: 'bigint',
  failed: 'bigint',
  attempts: 'bigint',
} as const

/** Adds to the stored counts. Counts of a deleted endpoint are dropped. */
export async function addCounts(db: Db, counts: readonly DayCounts[]): Promise<void> {
  if (counts.length === 0) return
  // In one order: two hosts that add to the same rows would deadlock.
  const rows = counts.toSorted((one, other) => (one.endpointId < other.endpointId ? -1 : 1))
  await db.raw(
    `insert into delivery_counts (endpoint_id, day, delivered, failed, attempts)
     select added.endpoint_id, added.day, added.delivered, added.failed, added.attempts
     from ${jsonRows(db, 'added', columns)} join endpoints on endpoints.id = added.endpoint_id
     where true
     on conflict (endpoint_id, day) do update set
       delivered = delivery_counts.delivered + excluded.delivered,
       failed = delivery_counts.failed + excluded.failed,
       attempts = delivery_counts.attempts + excluded.attempts`,
    [JSON.stringify(rows)],
  )
}

/** The newest day first. */
export async function listCounts(
  db: Db,
  endpointId: string,
  days: number,
): Promise<Omit<DayCounts, 'endpointId'>[]> {
  return db('deliveryCounts')
    .select('day', 'delivered', 'failed', 'attempts')
    .where({ endpointId })
    .orderBy('day', 'desc')
    .limit(days)
}
