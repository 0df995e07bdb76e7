import type { Knex } from 'knex'
import type { Db } from '../../db.ts'
import { firstIdAt, type IdPrefix } from '../../ids.ts'
import { isPostgres, jsonRows, jsonTexts, lenientJson, rawRows } from '../../sql.ts'
import type { Delivery } from '../deliveries.ts'

/** Rows that are pruned. Attempts go with their deliveries. `waitingEvents`: jobs of events that wait for a resume. */
export type Pruned = 'deliveries' | 'events' | 'jobs' | 'waitingEvents'

/** What rows are ordered by, the newest last, when a row came to its end, and which rows have. */
type Rule = { table: string; place: string; prefix?: IdPrefix; endedAt: string; isOver?: string }

const rules: Readonly<Record<Pruned, Rule>> = {
  deliveries: {
    ...{ table: 'deliveries', place: 'id', prefix: 'dlv' },
    ...{ endedAt: 'finished_at', isOver: `state <> 'owed'` },
  },
  events: { table: 'events', place: 'received_at', endedAt: 'received_at' },
  jobs: {
    ...{ table: 'jobs', place: 'id', prefix: 'job' },
    ...{ endedAt: 'finished_at', isOver: `state = 'failed'` },
  },
  waitingEvents: {
    ...{ table: 'jobs', place: 'id', prefix: 'job' },
    ...{ endedAt: 'created_at', isOver: `state = 'waiting' and kind = 'event'` },
  },
}

export const prunedTables = Object.keys(rules) as Pruned[]

/** A place in the order of a table: an id, or a time. */
export type Place = string | number

/** The place `rows` before `from`, `undefined` when there are not as many. Counting a million at once would take too long. */
export async function findPlaceBefore(
  db: Db,
  table: Pruned,
  from: Place | undefined,
  rows: number,
): Promise<Place | undefined> {
  const query = newestFirst(db, table).offset(rows).limit(1)
  if (from !== undefined) query.where(rules[table].place, '<=', from)
  return (await query.first<{ place: Place }>())?.place
}

/** The next rows of a table before a place, the newest first: their places, and `more` of each. */
export function nextBefore(
  db: Db,
  table: Pruned,
  { before, limit, more }: { before: Place | undefined; limit: number; more: readonly string[] },
): Knex.QueryBuilder {
  const query = newestFirst(db, table)
    .select(more.map((one) => db.raw(one)))
    .limit(limit)
  return before === undefined ? query : query.where(rules[table].place, '<', before)
}

function newestFirst(db: Db, table: Pruned): Knex.QueryBuilder {
  const { table: from, place, isOver } = rules[table]
  const query = db(from).select(`${place} as place`).orderBy(place, 'desc')
  // Of jobs those that are owed are not history; of deliveries few are owed.
  if (from === 'jobs' && isOver !== undefined) query.whereRaw(isOver)
  if (table === 'jobs') query.whereIn('kind', ['event', 'task', 'delivery'])
  return query
}

/** Which rows of a table are old: those up to a place, and those that ended before a time, in Unix ms. */
export type Old = { upTo: Place | undefined; endedBefore: number | undefined }

/**
 * Removes old rows that are over, of the next up to `limit` after the place `after`.
 *
 * @returns how many, and how far it came: `undefined` at the end
 */
export async function pruneSome(
  db: Db,
  table: Pruned,
  given: { old: Old; after: Place | undefined; limit: number },
): Promise<{ changed: number; reached: Place | undefined }> {
  const { old, after, limit } = given
  const { table: from, place, endedAt, isOver } = rules[table]
  const query = db(from)
    .select('id', `${place} as place`, `${endedAt} as endedAt`)
    .orderBy(place)
    .limit(limit)
  query.where(place, '<=', lastPlaceOf(table, old))
  if (isOver !== undefined) query.whereRaw(isOver)
  if (after !== undefined) query.where(place, '>', after)
  const rows = await query
  const gone = rows.filter(
    (row: { place: Place; endedAt: number | null }) =>
      (old.upTo !== undefined && row.place <= old.upTo) ||
      (old.endedBefore !== undefined && row.endedAt !== null && row.endedAt < old.endedBefore),
  )
  const changed = gone.length === 0 ? 0 : await remove(db, table, gone)
  return { changed, reached: rows.length === limit ? rows.at(-1)?.place : undefined }
}

/** What was made after a time cannot have ended before it. */
function lastPlaceOf(table: Pruned, { upTo, endedBefore }: Old): Place {
  const { prefix } = rules[table]
  const madeBefore =
    endedBefore === undefined || prefix === undefined ? endedBefore : firstIdAt(prefix, endedBefore)
  if (upTo === undefined || madeBefore === undefined) return upTo ?? madeBefore ?? ''
  return upTo > madeBefore ? upTo : madeBefore
}

async function remove(db: Db, table: Pruned, rows: readonly { id: string; place: Place }[]): Promise<number> {
  const ids = rows.map(({ id }) => id)
  if (table === 'deliveries') return removeDeliveries(db, ids)
  const query = db(rules[table].table).whereIn('id', ids)
  if (table === 'waitingEvents') query.whereRaw(`not (${isSetup(db)})`)
  if (table === 'events') {
    // Ids of events are their organizations' own.
    const times = rows.map(({ place }) => Number(place))
    query.whereBetween('receivedAt', [Math.min(...times), Math.max(...times)])
  }
  const { isOver } = rules[table]
  // It may have been sent or run again since it was read.
  return isOver === undefined ? query.delete() : query.whereRaw(isOver).delete()
}

/** Setup events are few, and tell a script of settings that it has seen no other way: they wait as long as it takes. */
const isSetup = (db: Db): string =>
  `coalesce(${lenientJson(db, 'subject')} -> 'event' ->> 'type', '') like '%installation\\_setup' escape '\\'`

/** With their attempts, and the bodies that no delivery has any more: only those of one event have one in common. */
async function removeDeliveries(db: Db, ids: readonly string[]): Promise<number> {
  const removed = await rawRows<Pick<Delivery, 'id' | 'eventId' | 'bodyId'>>(
    db,
    `delete from deliveries where id in ${jsonTexts(db)} and ${rules.deliveries.isOver}
     returning id, event_id, body_id`,
    [JSON.stringify(ids)],
  )
  await db.raw(`delete from attempts where delivery_id in ${jsonTexts(db)}`, [
    JSON.stringify(removed.map(({ id }) => id)),
  ])
  await db.raw(
    `delete from bodies where id in (
       select gone.body_id from ${jsonRows(db, 'gone', removedColumns)} where not exists (
         select 1 from deliveries
         where deliveries.event_id = gone.event_id and deliveries.body_id = gone.body_id))`,
    [JSON.stringify(removed)],
  )
  return removed.length
}

const removedColumns = { eventId: 'text', bodyId: 'text' } as const

/** Of several hosts, one prunes: the lock is this transaction's. SQLite has one host. */
export async function isOnlyPruner(transaction: Db): Promise<boolean> {
  if (!isPostgres(transaction)) return true
  const { rows } = await transaction.raw('select pg_try_advisory_xact_lock(?) as locked', [lockId])
  return rows[0]?.locked === true
}

/** A number of ours, by which hosts know this lock among others in the database. */
const lockId = 0x616e6e78
