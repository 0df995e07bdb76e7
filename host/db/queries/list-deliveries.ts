import type { Knex } from 'knex'
import type { Db } from '../db.ts'
import { withPrefix } from '../ids.ts'
import { inSpan, inSpanOfIds, type Span } from '../page.ts'
import { inCorrelated } from '../sql.ts'
import type { Delivery, DeliveryState } from './deliveries.ts'

/** A delivery must match all given fields. Times are of its creation, in Unix ms. */
export type DeliveryFilter = Span & {
  organizationId?: string
  installationId?: string
  receiverId?: string
  eventId?: string
  eventType?: string
  requestId?: string
  state?: DeliveryState
}

/** `nextAttemptAt` is `null` for a delivery that is settled, waits for a resume, or is being sent. */
export type ListedDelivery = Delivery & { nextAttemptAt: number | null }

/** A page of a list in the order of ids, the newest first. `before`: the last id of the page before it. */
export type Page = { before: string | undefined; limit: number }

/** Each filter has an index that is in the order of ids, so that a page reads few rows. Rare combinations scan that index. */
export async function listDeliveries(db: Db, filter: DeliveryFilter, page: Page): Promise<ListedDelivery[]> {
  return withNextAttempt(db, await queryOf(db, filter, page))
}

async function queryOf(db: Db, filter: DeliveryFilter, page: Page): Promise<Delivery[]> {
  const deliveries = () => inPage(db('deliveries').select('deliveries.*'), 'deliveries', filter, page)
  const { eventId, requestId, ...rest } = filter
  // Few deliveries are of one event or request.
  if (eventId !== undefined || requestId !== undefined) {
    return narrow(db, narrow(db, deliveries(), { eventId, requestId }), rest, unindexed(db))
  }
  const { state, ...others } = filter
  // Pending deliveries are found by their jobs. A filter by state would make PostgreSQL sort all jobs.
  if (state === 'pending') {
    return narrow(db, inPage(pendingOnes(db), 'jobs', filter, page), others, unindexed(db))
  }
  // A failed delivery has a reason: this condition selects the index `deliveries_failed`.
  if (state === 'failed') {
    return narrow(db, deliveries().whereNotNull('deliveries.reason'), filter, unindexed(db))
  }
  const { installationId, receiverId, organizationId } = filter
  if (installationId === undefined && receiverId !== undefined) {
    // The receiver's installation has an index in the order of the page.
    const receiver = await db('receivers').where({ id: receiverId }).first('installationId')
    if (receiver === undefined) return []
    return narrow(db, deliveries(), { ...filter, ...receiver })
  }
  if (installationId === undefined && organizationId !== undefined) return ofOrganization(db, filter, page)
  return narrow(db, deliveries(), filter)
}

/** Greater than each id, which has hexadecimal digits here, in the order of every language. */
const afterAll = 'dlv_g'

/** One page of each installation, by its index: without the inner pages all deliveries of the organization would be sorted. */
function ofOrganization(
  db: Db,
  { organizationId, ...others }: DeliveryFilter,
  page: Page,
): Knex.QueryBuilder {
  // Ranges and an order of two columns: with `=` PostgreSQL may read the deliveries of all installations in the order of ids.
  const ofOne = db('deliveries')
    .select('deliveries.id')
    .where('deliveries.installationId', '>=', db.ref('theirs.id'))
    .whereRaw('(deliveries.installation_id, deliveries.id) < (theirs.id, ?)', [page.before ?? afterAll])
    .orderBy('deliveries.installationId', 'desc')
  const ids = narrow(db, inPage(ofOne, 'deliveries', others, page), others).toSQL()
  return (
    db('installations as theirs')
      .select('found.*')
      // SQLite keeps to the order of a cross join.
      .crossJoin('deliveries as found' as never)
      .where('theirs.organizationId', organizationId)
      .whereRaw(`found.id ${inCorrelated(db, ids.sql)}`, ids.bindings as never)
      .orderBy('found.id', 'desc')
      .limit(page.limit)
  )
}

/** A pending delivery has a job, and there may be a million deliveries beside it. */
const pendingOnes = (db: Db): Knex.QueryBuilder =>
  db('jobs')
    .select('deliveries.*')
    // SQLite keeps to the order of a cross join.
    .crossJoin('deliveries' as never)
    .where('jobs.kind', 'delivery')
    .whereRaw(`deliveries.id = 'dlv_' || substr(jobs.id, 5)`)

/** Takes a page in the order of a table's ids. */
function inPage(
  query: Knex.QueryBuilder,
  table: 'deliveries' | 'jobs',
  { sinceMs, untilMs }: Span,
  { before, limit }: Page,
): Knex.QueryBuilder {
  const column = `${table}.id`
  const prefix = table === 'jobs' ? 'job' : 'dlv'
  if (before !== undefined) query.where(column, '<', withPrefix(before, prefix))
  inSpanOfIds(query, column, prefix, { sinceMs, untilMs })
  return query.orderBy(column, 'desc').limit(limit)
}

/** @returns the delivery with the time of its next attempt */
export async function findListedDelivery(db: Db, id: string): Promise<ListedDelivery | undefined> {
  const [found] = await withNextAttempt(db, await db('deliveries').where({ id }))
  return found
}

export async function withNextAttempt(db: Db, deliveries: readonly Delivery[]): Promise<ListedDelivery[]> {
  const pending = deliveries.filter(({ state }) => state === 'pending').map(({ id }) => withPrefix(id, 'job'))
  const jobs =
    pending.length === 0
      ? []
      : await db('jobs').select('id', 'dueAt').whereIn('id', pending).where({ state: 'due' })
  const dueAt = new Map<string, number>(jobs.map(({ id, dueAt }) => [id, dueAt]))
  return deliveries.map((delivery) => ({
    ...delivery,
    nextAttemptAt: dueAt.get(withPrefix(delivery.id, 'job')) ?? null,
  }))
}

type ToColumn = (column: string) => string | Knex.Raw

const indexed: ToColumn = (column) => `deliveries.${column}`

/**
 * Wraps the columns of a query that must read in the order of one index. By an index on `installation_id`, each page would
 * read and sort all deliveries of an installation.
 */
export const unindexed =
  (db: Db): ToColumn =>
  (column) =>
    db.raw(`coalesce(??, '')`, [`deliveries.${column}`])

/** Adds a filter to a query of deliveries. The query may join other tables. */
export function narrow(
  db: Db,
  query: Knex.QueryBuilder,
  filter: DeliveryFilter,
  toColumn: ToColumn = indexed,
): Knex.QueryBuilder {
  const { organizationId, installationId, receiverId, eventId, eventType, requestId, state } = filter
  const where = (column: string, value: string | undefined) => {
    if (value !== undefined) query.where(toColumn(column) as string, value)
  }
  where('installationId', installationId)
  where('receiverId', receiverId)
  where('eventId', eventId)
  where('eventType', eventType)
  where('requestId', requestId)
  where('state', state)
  if (organizationId !== undefined) {
    const theirs = db('installations').select('id').where({ organizationId })
    query.whereIn(toColumn('installationId') as string, theirs)
  }
  return inSpan(query, 'deliveries.createdAt', filter)
}
