import type { Knex } from 'knex'
import type { Db } from '../../db.ts'
import { firstIdAt, withPrefix } from '../../ids.ts'
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
 * The newest first.
 *
 * @param page.before the id of a delivery: only those that come after it in the list
 */
export async function listDeliveries(
  db: Db,
  filter: DeliveryFilter,
  page: { before?: string; limit: number },
): Promise<ListedDelivery[]> {
  const isOwed = filter.state === 'owed'
  const query = isOwed ? fromJobs(db) : db('deliveries').orderBy('deliveries.id', 'desc')
  query.select('deliveries.*').limit(page.limit)
  if (page.before !== undefined) {
    if (isOwed) query.where('jobs.id', '<', withPrefix(page.before, 'job'))
    else query.where('deliveries.id', '<', page.before)
  }
  narrow(db, query, filter)
  return withNextAttempt(db, await query)
}

/** What is owed is found by its job: there may be a million deliveries that are not for each that is. */
const fromJobs = (db: Db): Knex.QueryBuilder =>
  db('jobs')
    // SQLite keeps to the order of a cross join.
    .crossJoin('deliveries' as never)
    .where('jobs.kind', 'delivery')
    .whereRaw(`deliveries.id = 'dlv_' || substr(jobs.id, 5)`)
    .orderBy('jobs.id', 'desc')

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
  // Each has one, and their index is found by it.
  if (state === 'failed') query.whereNotNull('deliveries.reason')
  if (organizationId !== undefined) {
    query.whereIn('deliveries.installationId', db('installations').select('id').where({ organizationId }))
  }
  if (endpointId !== undefined) {
    // Its installation's index is in the order of the list.
    const ofIt = db('endpoints').select('installationId').where({ id: endpointId })
    query.where('deliveries.endpointId', endpointId).where('deliveries.installationId', ofIt)
  }
  if (afterMs !== undefined) {
    query.where('deliveries.id', '>=', firstIdAt('dlv', afterMs - slackMs))
    query.where('deliveries.createdAt', '>=', afterMs)
  }
  if (beforeMs !== undefined) {
    query.where('deliveries.id', '<', firstIdAt('dlv', beforeMs + slackMs))
    query.where('deliveries.createdAt', '<', beforeMs)
  }
}
