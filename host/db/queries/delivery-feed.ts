import type { Knex } from 'knex'
import type { Db } from '../db.ts'
import { clockSlackMs, oldestTransactionMs } from '../sql.ts'
import type { AttemptRow } from './attempts.ts'
import { findDeliveries } from './deliveries.ts'
import {
  type DeliveryFilter,
  type ListedDelivery,
  narrow,
  unindexed,
  withNextAttempt,
} from './list-deliveries.ts'

/** A change of a delivery. `delivery` is the current row. */
export type FeedItem =
  | { kind: 'pending'; id: string; delivery: ListedDelivery }
  /** The delivery failed without an attempt. */
  | { kind: 'refused'; id: string; delivery: ListedDelivery }
  | {
      kind: 'attempt'
      id: string
      delivery: ListedDelivery
      attempt: AttemptRow
      /** The start of the previous attempt. */
      previousStartedAt: number | null
    }

/** The feed waits this long for an open transaction, and misses items of a longer one. */
const longestCommitMs = 30_000

/**
 * @returns a time in Unix ms: every connection can read all items that were created before it
 *
 * @param db the connection that writes
 */
export async function settledUpTo(db: Db): Promise<number> {
  const nowMs = Date.now()
  // Ids may be a little older than the time of their commit.
  return nowMs - clockSlackMs(db) - Math.min(await oldestTransactionMs(db), longestCommitMs)
}

/** A cursor among all items: the part of an id after its prefix, or the beginning of such a part. */
export type FeedCursor = string

/** The cursor of an item. Ids begin with the time at which they were made. */
export const cursorOf = ({ id }: Pick<FeedItem, 'id'>): FeedCursor => id.slice(id.indexOf('_') + 1)

type FeedAttempt = AttemptRow & { previousStartedAt: number | null }

/** The first up to `limit` items after one cursor and up to another, the oldest first. */
export async function readFeed(
  db: Db,
  filter: DeliveryFilter,
  page: { after: FeedCursor; upTo: FeedCursor; limit: number },
): Promise<FeedItem[]> {
  const { after, upTo, limit } = page
  const inOrder = (query: Knex.QueryBuilder, column: string, prefix: 'dlv' | 'ref' | 'att') => {
    query.where(column, '>', `${prefix}_${after}`).where(column, '<=', `${prefix}_${upTo}`)
    return narrow(db, query.orderBy(column).limit(limit), filter, unindexed(db))
  }
  const previous = db('attempts as previous').select('previous.startedAt')
  previous.where('previous.deliveryId', db.ref('attempts.deliveryId'))
  previous.where('previous.number', db.raw('attempts.number - 1'))
  const attempted = db('attempts')
    .select('attempts.*', previous.as('previousStartedAt'))
    // SQLite keeps to the order of a cross join.
    .crossJoin('deliveries' as never)
    .where('deliveries.id', db.ref('attempts.deliveryId'))
  const created = await inOrder(db('deliveries').select('deliveries.*'), 'deliveries.id', 'dlv')
  const refused = await inOrder(db('deliveries').select('deliveries.*'), 'deliveries.refusedId', 'ref')
  const attempts: FeedAttempt[] = await inOrder(attempted, 'attempts.id', 'att')

  const items: FeedItem[] = []
  for (const delivery of await withNextAttempt(db, created)) {
    items.push({ kind: 'pending', id: delivery.id, delivery })
  }
  for (const delivery of await withNextAttempt(db, refused)) {
    const { refusedId } = delivery
    if (refusedId !== null) items.push({ kind: 'refused', id: refusedId, delivery })
  }
  const deliveries = await findListed(db, [...new Set(attempts.map(({ deliveryId }) => deliveryId))])
  for (const { previousStartedAt, ...attempt } of attempts) {
    const delivery = deliveries.get(attempt.deliveryId)
    if (delivery !== undefined) {
      items.push({ kind: 'attempt', id: attempt.id, delivery, attempt, previousStartedAt })
    }
  }
  items.sort((one, other) => (cursorOf(one) < cursorOf(other) ? -1 : 1))
  return items.slice(0, limit)
}

async function findListed(db: Db, ids: readonly string[]): Promise<Map<string, ListedDelivery>> {
  const found = ids.length === 0 ? [] : await withNextAttempt(db, await findDeliveries(db, ids))
  return new Map(found.map((delivery) => [delivery.id, delivery]))
}
