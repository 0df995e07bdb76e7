import type { Knex } from 'knex'
import type { Db } from '../../db.ts'
import { firstIdAt, withPrefix } from '../../ids.ts'
import { type Look, type Looked, lookAmong, type Range, type Source } from '../../looks/window.ts'
import type { Delivery, DeliveryState } from '../deliveries.ts'

/** Which deliveries; those of all fields that are there. Times are of when it was owed first, in Unix ms. */
export type DeliveryFilter = {
  organizationId?: string
  installationId?: string
  endpointId?: string
  eventId?: string
  eventType?: string
  state?: DeliveryState
  afterMs?: number
  beforeMs?: number
}

/** A delivery with when it is sent next: `null` where it is not owed, waits for a resume, or is being sent. */
export type ListedDelivery = Delivery & { nextAttemptAt: number | null }

/** Ids are made a moment before or after their record's time. */
const slackMs = 1_000

/**
 * Looks at the next rows of what an index has for the filter, the newest first, and not at all that there may be: a filter
 * that fits few would read a million.
 */
export async function lookForDeliveries(
  db: Db,
  filter: DeliveryFilter,
  look: Look,
): Promise<Looked<ListedDelivery>> {
  const range = rangeOf(filter, look.place)
  const ask = (window: Knex.QueryBuilder) => {
    const from: Knex.QueryBuilder = isOwed(filter)
      ? joinDeliveries(db, window)
      : db.from(window.as('deliveries'))
    const query = from.select('deliveries.*').orderBy('deliveries.id', 'desc')
    narrow(db, query, filter)
    return query
  }
  const sources = await sourcesOf(db, filter)
  const looked = await lookAmong<Delivery>(db, sources, isOwed(filter) ? jobRange(range) : range, look, ask)
  const items = await withNextAttempt(db, looked.items)
  return { items, reached: looked.reached && withPrefix(looked.reached, 'dlv') }
}

/** What is owed has a job: there may be a million deliveries that are not for each that is. */
const isOwed = ({ eventId, state }: DeliveryFilter): boolean => eventId === undefined && state === 'owed'

/** The deliveries of some jobs. */
const joinDeliveries = (db: Db, jobs: Knex.QueryBuilder): Knex.QueryBuilder =>
  db
    .from(jobs.as('jobs'))
    // SQLite keeps to the order of a cross join.
    .crossJoin('deliveries' as never)
    .where('jobs.kind', 'delivery')
    .whereRaw(`deliveries.id = 'dlv_' || substr(jobs.id, 5)`)

/** Where all that fits the filter is found in the order of the list: in any of these. */
async function sourcesOf(db: Db, filter: DeliveryFilter): Promise<Source[]> {
  const { eventId, state } = filter
  const of = (where?: Source['where']): Source => ({
    ...{ table: 'deliveries', column: 'id', order: 'desc' },
    ...(where !== undefined && { where }),
  })
  if (eventId !== undefined) return [of((query) => void query.where({ eventId }))]
  if (isOwed(filter)) return [{ ...of(), table: 'jobs' }]
  if (state === 'failed') return [of(hasReason)]
  const installationIds = await installationsOf(db, filter)
  if (installationIds === undefined) return [of()]
  return installationIds.map((installationId) => of((query) => void query.where({ installationId })))
}

/** Each that has failed has one, and their index is found by it. */
export const hasReason = (query: Knex.QueryBuilder): void => void query.whereNotNull('reason')

/** @returns `undefined`: of any */
async function installationsOf(
  db: Db,
  { installationId, endpointId, organizationId }: DeliveryFilter,
): Promise<string[] | undefined> {
  if (installationId !== undefined) return [installationId]
  if (endpointId !== undefined) {
    const endpoint = await db('endpoints').where({ id: endpointId }).first('installationId')
    return endpoint === undefined ? [] : [endpoint.installationId]
  }
  if (organizationId !== undefined) return db('installations').where({ organizationId }).pluck('id')
  return undefined
}

/** The ids that deliveries of the filter's times have. */
export function rangeOf({ afterMs, beforeMs }: DeliveryFilter, before?: string): Range {
  const madeBefore = beforeMs === undefined ? undefined : firstIdAt('dlv', beforeMs + slackMs)
  const bound = [before, madeBefore].filter((id) => id !== undefined).sort()[0]
  return { from: afterMs === undefined ? undefined : firstIdAt('dlv', afterMs - slackMs), before: bound }
}

const jobRange = ({ from, before }: Range): Range => ({
  from: from && withPrefix(from, 'job'),
  before: before && withPrefix(before, 'job'),
})

/** @returns the delivery with when it is sent next */
export async function findListedDelivery(db: Db, id: string): Promise<ListedDelivery | undefined> {
  const [found] = await withNextAttempt(db, await db('deliveries').where({ id }))
  return found
}

/** When each that is owed is sent next. */
export async function withNextAttempt(db: Db, deliveries: readonly Delivery[]): Promise<ListedDelivery[]> {
  const owed = deliveries.filter(({ state }) => state === 'owed').map(({ id }) => withPrefix(id, 'job'))
  const jobs =
    owed.length === 0
      ? []
      : await db('jobs').select('id', 'dueAt').whereIn('id', owed).where({ state: 'due' })
  const dueAt = new Map<string, number>(jobs.map(({ id, dueAt }) => [id, dueAt]))
  return deliveries.map((delivery) => ({
    ...delivery,
    nextAttemptAt: dueAt.get(withPrefix(delivery.id, 'job')) ?? null,
  }))
}

/** Puts a filter on a query of deliveries. Other tables may be joined to it. */
export function narrow(db: Db, query: Knex.QueryBuilder, filter: DeliveryFilter): void {
  const { organizationId, installationId, endpointId, eventId, eventType, state, afterMs, beforeMs } = filter
  if (installationId !== undefined) query.where('deliveries.installationId', installationId)
  if (eventId !== undefined) query.where('deliveries.eventId', eventId)
  if (eventType !== undefined) query.where('deliveries.eventType', eventType)
  if (state !== undefined) query.where('deliveries.state', state)
  if (organizationId !== undefined) {
    query.whereIn('deliveries.installationId', db('installations').select('id').where({ organizationId }))
  }
  if (endpointId !== undefined) query.where('deliveries.endpointId', endpointId)
  if (afterMs !== undefined) query.where('deliveries.createdAt', '>=', afterMs)
  if (beforeMs !== undefined) query.where('deliveries.createdAt', '<', beforeMs)
}
