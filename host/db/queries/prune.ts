import type { Knex } from 'knex'
import type { Db } from '../db.ts'
import { firstIdAt, type IdPrefix } from '../ids.ts'
import { jsonRows, toJson } from '../json-rows.ts'
import { inTexts, lenientJson, rawRows, tryLock, usedBytes } from '../sql.ts'
import type { Delivery } from './deliveries.ts'

/** Kinds of pruned history. Deliveries include their attempts. `waitingEvents`: jobs of events that wait for a resume. */
export type Pruned = 'deliveries' | 'events' | 'jobs' | 'waitingEvents'

/** `position` orders the rows, the newest last. `endedAt` is the time of a row's end, and `isOver` finds ended rows. */
type Rule = { table: string; position: string; prefix?: IdPrefix; endedAt: string; isOver?: string }

const rules: Readonly<Record<Pruned, Rule>> = {
  deliveries: {
    ...{ table: 'deliveries', position: 'id', prefix: 'dlv' },
    ...{ endedAt: 'finished_at', isOver: `state <> 'pending'` },
  },
  events: { table: 'events', position: 'received_at', endedAt: 'received_at' },
  jobs: {
    ...{ table: 'jobs', position: 'id', prefix: 'job' },
    ...{ endedAt: 'finished_at', isOver: `state = 'failed'` },
  },
  waitingEvents: {
    ...{ table: 'jobs', position: 'id', prefix: 'job' },
    ...{ endedAt: 'created_at', isOver: `state = 'waiting' and kind = 'event'` },
  },
}

export const prunedTables = Object.keys(rules) as Pruned[]

/** A position in the order of a table: an id, or a time. */
export type RowPosition = string | number

/** The position `rows` rows before `from`, `undefined` when there are fewer rows. Counting a million at once takes too long. */
export async function findPositionBefore(
  db: Db,
  table: Pruned,
  from: RowPosition | undefined,
  rows: number,
): Promise<RowPosition | undefined> {
  const query = newestFirst(db, table).offset(rows).limit(1)
  if (from !== undefined) query.where(rules[table].position, '<=', from)
  return (await query.first<{ position: RowPosition }>())?.position
}

/** The next rows of a table before a position, the newest first, with their positions and the columns `more`. */
function nextBefore(
  db: Db,
  table: Pruned,
  { before, limit, more }: { before: RowPosition | undefined; limit: number; more: readonly string[] },
): Knex.QueryBuilder {
  const query = newestFirst(db, table)
    .select(more.map((one) => db.raw(one)))
    .limit(limit)
  return before === undefined ? query : query.where(rules[table].position, '<', before)
}

function newestFirst(db: Db, table: Pruned): Knex.QueryBuilder {
  const { table: from, position, isOver } = rules[table]
  const query = db(from).select(`${position} as position`).orderBy(position, 'desc')
  // Pending jobs are no history. Few deliveries are pending, so the query does not filter them.
  if (from === 'jobs' && isOver !== undefined) query.whereRaw(isOver)
  if (table === 'jobs') query.whereIn('kind', ['event', 'task', 'delivery'])
  return query
}

/** Old rows of a table: rows up to a position, and rows that ended before a time, in Unix ms. */
export type Old = { upTo: RowPosition | undefined; endedBefore: number | undefined }

/**
 * Reads the next `limit` rows after the position `after`, and removes the old ended ones.
 *
 * @returns the number of removed rows, and the last position: `undefined` at the end
 */
export async function pruneSome(
  db: Db,
  table: Pruned,
  given: { old: Old; after: RowPosition | undefined; limit: number },
): Promise<{ changed: number; reached: RowPosition | undefined }> {
  const { old, after, limit } = given
  const { table: from, position, endedAt, isOver } = rules[table]
  const query = db(from)
    .select('id', `${position} as position`, `${endedAt} as endedAt`)
    .orderBy(position)
    .limit(limit)
  query.where(position, '<=', lastPositionOf(table, old))
  if (isOver !== undefined) query.whereRaw(isOver)
  if (after !== undefined) query.where(position, '>', after)
  const rows = await query
  const gone = rows.filter(
    (row: { position: RowPosition; endedAt: number | null }) =>
      (old.upTo !== undefined && row.position <= old.upTo) ||
      (old.endedBefore !== undefined && row.endedAt !== null && row.endedAt < old.endedBefore),
  )
  const changed = gone.length === 0 ? 0 : await remove(db, table, gone)
  return { changed, reached: rows.length === limit ? rows.at(-1)?.position : undefined }
}

/** A row that was created after a time has not ended before it. */
function lastPositionOf(table: Pruned, { upTo, endedBefore }: Old): RowPosition {
  const { prefix } = rules[table]
  const madeBefore =
    endedBefore === undefined || prefix === undefined ? endedBefore : firstIdAt(prefix, endedBefore)
  if (upTo === undefined || madeBefore === undefined) return upTo ?? madeBefore ?? ''
  return upTo > madeBefore ? upTo : madeBefore
}

async function remove(
  db: Db,
  table: Pruned,
  rows: readonly { id: string; position: RowPosition }[],
): Promise<number> {
  const ids = rows.map(({ id }) => id)
  if (table === 'deliveries') return removeDeliveries(db, ids)
  const query = db(rules[table].table).whereIn('id', ids)
  if (table === 'waitingEvents') query.whereRaw(`not (${isSetup(db)})`)
  if (table === 'events') {
    // Two organizations may have events with one id.
    const times = rows.map(({ position }) => Number(position))
    query.whereBetween('receivedAt', [Math.min(...times), Math.max(...times)])
  }
  const { isOver } = rules[table]
  // Since the read, a request may have sent the delivery or run the job again.
  return isOver === undefined ? query.delete() : query.whereRaw(isOver).delete()
}

/** Setup events are kept: no later event would give the script these settings. */
const isSetup = (db: Db): string =>
  `coalesce(${lenientJson(db, 'subject')} -> 'event' ->> 'type', '') like '%installation\\_setup' escape '\\'`

/** Removes attempts too, and bodies without a delivery. Only deliveries of one event share a body. */
async function removeDeliveries(db: Db, ids: readonly string[]): Promise<number> {
  const removed = await rawRows<Pick<Delivery, 'id' | 'eventId' | 'bodyId'>>(
    db,
    `delete from deliveries where id ${inTexts(db)} and ${rules.deliveries.isOver}
     returning id, event_id, body_id`,
    [JSON.stringify(ids)],
  )
  await db.raw(`delete from attempts where delivery_id ${inTexts(db)}`, [
    JSON.stringify(removed.map(({ id }) => id)),
  ])
  await db.raw(
    `delete from bodies where id in (
       select gone.body_id from ${jsonRows(db, 'gone', removedColumns)} where not exists (
         select 1 from deliveries
         where deliveries.event_id = gone.event_id and deliveries.body_id = gone.body_id))`,
    [toJson(removed, removedColumns)],
  )
  return removed.length
}

const removedColumns = { eventId: 'text', bodyId: 'text' } as const

/** True on one of several hosts, until the transaction ends. */
export const isOnlyPruner = (transaction: Db): Promise<boolean> => tryLock(transaction, lockId)

/** PostgreSQL names advisory locks by numbers. This one is `annx` in ASCII. */
const lockId = 0x616e6e78

/** `bytes`: the size of the texts of a row. */
export type SizedRow = { position: RowPosition; bytes: number }

const attemptText = ['request_headers', 'response_headers', 'response_body', 'error_message']
  .map((column) => `coalesce(octet_length(${column}), 0)`)
  .join(' + ')

/** Both databases give the length of a text without reading it. */
const sizes: Readonly<Record<Pruned, readonly string[]>> = {
  deliveries: [
    `body_id, coalesce((select octet_length(body) from bodies where bodies.id = body_id), 0) as body_bytes`,
    `coalesce((select sum(${attemptText}) from attempts where attempts.delivery_id = deliveries.id), 0) as bytes`,
  ],
  events: ['octet_length(payload) as bytes'],
  jobs: ['octet_length(subject) as bytes'],
  waitingEvents: ['octet_length(subject) as bytes'],
}

type Read = SizedRow & { bodyId?: string; bodyBytes?: number }

/**
 * The next rows of a table before a position, the newest first, with the size of their texts. A shared body counts for its
 * first delivery.
 */
export async function readSizes(
  db: Db,
  table: Pruned,
  page: { before: RowPosition | undefined; limit: number },
): Promise<SizedRow[]> {
  const rows: Read[] = await nextBefore(db, table, { ...page, more: sizes[table] })
  const counted = new Set<string>()
  return rows.map(({ position, bytes, bodyId, bodyBytes = 0 }) => {
    if (bodyId === undefined || counted.has(bodyId)) return { position, bytes }
    counted.add(bodyId)
    return { position, bytes: bytes + bodyBytes }
  })
}

/** An upper bound for the bytes of history. */
export const readUsedBytes = (db: Db): Promise<number> =>
  usedBytes(db, ['deliveries', 'bodies', 'attempts', 'events', 'jobs'])
