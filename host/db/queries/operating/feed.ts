import type { Db } from '../../db.ts'
import type { AttemptRow } from '../attempts.ts'
import { findDeliveries } from '../deliveries.ts'
import { type DeliveryFilter, type ListedDelivery, narrow, withNextAttempt } from './list-deliveries.ts'

/** What happened to a delivery, as the tables have it. `delivery` is as it is now. */
export type FeedItem =
  | { kind: 'owed'; id: string; delivery: ListedDelivery }
  /** It failed without an attempt. */
  | { kind: 'refused'; id: string; delivery: ListedDelivery }
  | {
      kind: 'attempt'
      id: string
      delivery: ListedDelivery
      attempt: AttemptRow
      /** When the attempt before it began. */
      previousStartedAt: number | null
    }

/** A place among all items: the part of an id after its prefix, or the beginning of one. */
export type FeedPlace = string

/** The place of an item: ids begin with the time at which they were made. */
export const placeOf = ({ id }: Pick<FeedItem, 'id'>): FeedPlace => id.slice(id.indexOf('_') + 1)

type FeedAttempt = AttemptRow & { previousStartedAt: number | null }

/** What was owed, attempted and refused after one place and before another, the oldest first. */
export async function readFeed(
  db: Db,
  filter: DeliveryFilter,
  range: { after: FeedPlace; before: FeedPlace; limit: number },
): Promise<FeedItem[]> {
  const { after, before, limit } = range
  const owed = db('deliveries').select('deliveries.*').orderBy('deliveries.id').limit(limit)
  owed.where('deliveries.id', '>', `dlv_${after}`).where('deliveries.id', '<', `dlv_${before}`)
  narrow(db, owed, filter)
  const refused = db('deliveries').select('deliveries.*').orderBy('deliveries.refusedId').limit(limit)
  refused
    .where('deliveries.refusedId', '>', `ref_${after}`)
    .where('deliveries.refusedId', '<', `ref_${before}`)
  narrow(db, refused, filter)
  const made = db('attempts').select('attempts.*', 'previous.startedAt as previousStartedAt')
  made.join('deliveries', 'deliveries.id', 'attempts.deliveryId').leftJoin('attempts as previous', (join) => {
    join.on('previous.deliveryId', 'attempts.deliveryId')
    join.on('previous.number', db.raw('attempts.number - 1'))
  })
  made.where('attempts.id', '>', `att_${after}`).where('attempts.id', '<', `att_${before}`)
  made.orderBy('attempts.id').limit(limit)
  narrow(db, made, filter)
  const attempts: FeedAttempt[] = await made
  const deliveries = await findListed(db, [...new Set(attempts.map(({ deliveryId }) => deliveryId))])
  const items: FeedItem[] = (await withNextAttempt(db, await owed)).map((delivery) => ({
    ...{ kind: 'owed', id: delivery.id, delivery },
  }))
  for (const delivery of await withNextAttempt(db, await refused)) {
    const { refusedId } = delivery
    if (refusedId !== null) items.push({ kind: 'refused', id: refusedId, delivery })
  }
  for (const { previousStartedAt, ...attempt } of attempts) {
    const delivery = deliveries.get(attempt.deliveryId)
    if (delivery !== undefined) {
      items.push({ kind: 'attempt', id: attempt.id, delivery, attempt, previousStartedAt })
    }
  }
  return items.sort((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1)).slice(0, limit)
}

async function findListed(db: Db, ids: readonly string[]): Promise<Map<string, ListedDelivery>> {
  const found = ids.length === 0 ? [] : await withNextAttempt(db, await findDeliveries(db, ids))
  return new Map(found.map((delivery) => [delivery.id, delivery]))
}
