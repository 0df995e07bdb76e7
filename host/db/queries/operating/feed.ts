import type { Db } from '../../db.ts'
import { endOfWindow, type Range, type Source, windowOf } from '../../looks/window.ts'
import { isPostgres, rawRows } from '../../sql.ts'
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

/** Ids are made when they are stored, on a clock that may be a little behind: on PostgreSQL hosts have clocks of their own. */
const slackMs = { sqlite: 2, postgres: 1_000 }
/** What takes longer to be committed may be missed: an import is one transaction, and holds up the feed for no longer. */
const longestCommitMs = 30_000

/**
 * Since when something may be missing, in Unix ms: all that was made before is committed, and can be read over any connection.
 *
 * @param db what stores. On SQLite that is one transaction at a time, and this waits for the one that is open
 */
export async function settledUpTo(db: Db): Promise<number> {
  const nowMs = Date.now()
  if (!isPostgres(db)) {
    await db.raw('select 1')
    return nowMs - slackMs.sqlite
  }
  const [open] = await rawRows<{ ms: number }>(
    db,
    `select coalesce(max(extract(epoch from clock_timestamp() - xact_start)), 0) * 1000 as ms
     from pg_stat_activity where datname = current_database() and backend_xid is not null`,
    [],
  )
  return nowMs - slackMs.postgres - Math.min(Number(open?.ms), longestCommitMs)
}

/** A place among all items: the part of an id after its prefix, or the beginning of one. */
export type FeedPlace = string

/** The place of an item: ids begin with the time at which they were made. */
export const placeOf = ({ id }: Pick<FeedItem, 'id'>): FeedPlace => id.slice(id.indexOf('_') + 1)

type FeedAttempt = AttemptRow & { previousStartedAt: number | null }

const owedOnes: Source = { table: 'deliveries', column: 'id', order: 'asc' }
const refusedOnes: Source = { table: 'deliveries', column: 'refusedId', order: 'asc' }
const attemptsMade: Source = { table: 'attempts', column: 'id', order: 'asc' }

/** `reached`: the place up to which that is all, `undefined` when it is what was asked for. */
export type FeedLook = { items: FeedItem[]; reached: FeedPlace | undefined }

/**
 * What was owed, attempted and refused after one place and before another, the oldest first: up to `limit` of what the next `rows`
 * of each hold.
 */
export async function readFeed(
  db: Db,
  filter: DeliveryFilter,
  look: { after: FeedPlace; before: FeedPlace; limit: number; rows: number | undefined },
): Promise<FeedLook> {
  const { limit, rows } = look
  const rangeOf = (prefix: string, { after, before }: { after: FeedPlace; before: FeedPlace }): Range => ({
    ...{ after: `${prefix}_${after}`, to: `${prefix}_${before}` },
  })
  const ends = await Promise.all([
    endOfWindow(db, owedOnes, rangeOf('dlv', look), rows),
    endOfWindow(db, refusedOnes, rangeOf('ref', look), rows),
    endOfWindow(db, attemptsMade, rangeOf('att', look), rows),
  ])
  const places = ends.filter((id) => id !== undefined).map((id) => placeOf({ id }))
  const end = places.sort()[0]
  const range = { after: look.after, before: end ?? look.before }
  const owed = db.from(windowOf(db, owedOnes, rangeOf('dlv', range), rows).as('deliveries'))
  owed.select('deliveries.*').orderBy('deliveries.id').limit(limit)
  narrow(db, owed, filter)
  const refused = db.from(windowOf(db, refusedOnes, rangeOf('ref', range), rows).as('deliveries'))
  refused.select('deliveries.*').orderBy('deliveries.refusedId').limit(limit)
  narrow(db, refused, filter)
  const made = db.from(windowOf(db, attemptsMade, rangeOf('att', range), rows).as('attempts'))
  // For those that fit alone.
  const previous = db('attempts as previous').select('previous.startedAt')
  previous.where('previous.deliveryId', db.ref('attempts.deliveryId'))
  previous.where('previous.number', db.raw('attempts.number - 1'))
  made.select('attempts.*', previous.as('previousStartedAt'))
  made.join('deliveries', 'deliveries.id', 'attempts.deliveryId')
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
  items.sort((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1))
  const last = items[limit - 1]
  return { items: items.slice(0, limit), reached: last === undefined ? end : placeOf(last) }
}

async function findListed(db: Db, ids: readonly string[]): Promise<Map<string, ListedDelivery>> {
  const found = ids.length === 0 ? [] : await withNextAttempt(db, await findDeliveries(db, ids))
  return new Map(found.map((delivery) => [delivery.id, delivery]))
}
