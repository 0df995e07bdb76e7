import type { Db } from '../db.ts'
import { jsonRows, toJson } from '../json-rows.ts'

/** Results of a receiver's deliveries on a UTC day (Unix ms). Pruning deliveries keeps them. */
export type DayCounts = {
  receiverId: string
  day: number
  delivered: number
  failed: number
  attempts: number
}

const columns = {
  receiverId: 'text',
  day: 'bigint',
  delivered: 'bigint',
  failed: 'bigint',
  attempts: 'bigint',
} as const

/** Adds to the stored counts. Counts of a deleted receiver are dropped. */
export async function addCounts(db: Db, counts: readonly DayCounts[]): Promise<void> {
  if (counts.length === 0) return
  // Sorted: two hosts that update the same rows in different orders would deadlock.
  const rows = counts.toSorted((one, other) => (one.receiverId < other.receiverId ? -1 : 1))
  await db.raw(
    `insert into delivery_counts (receiver_id, day, delivered, failed, attempts)
     select added.receiver_id, added.day, added.delivered, added.failed, added.attempts
     from ${jsonRows(db, 'added', columns)} join receivers on receivers.id = added.receiver_id
     where true
     on conflict (receiver_id, day) do update set
       delivered = delivery_counts.delivered + excluded.delivered,
       failed = delivery_counts.failed + excluded.failed,
       attempts = delivery_counts.attempts + excluded.attempts`,
    [toJson(rows, columns)],
  )
}

/** The newest day first. */
export async function listCounts(
  db: Db,
  receiverId: string,
  days: number,
): Promise<Omit<DayCounts, 'receiverId'>[]> {
  return db('deliveryCounts')
    .select('day', 'delivered', 'failed', 'attempts')
    .where({ receiverId })
    .orderBy('day', 'desc')
    .limit(days)
}
