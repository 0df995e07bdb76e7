import type { Knex } from 'knex'
import type { Db } from '../../db.ts'
import { jsonTexts, lenientJson, rawRows } from '../../rows/json-rows.ts'
import type { AttemptRow } from '../attempts.ts'
import type { DeliveryWithBody } from '../deliveries.ts'
import type { Endpoint } from '../endpoints.ts'
import type { EventRow } from '../events.ts'
import type { DayCounts } from '../operating/counts.ts'

/** A part of what there is of an installation: by id, after the last one of the part before. */
export type Page = { installationId: string; after: string; limit: number }

export type EndpointWithDays = Endpoint & { days: DayCounts[] }

export async function readEndpoints(
  db: Db,
  { installationId, after, limit }: Page,
): Promise<EndpointWithDays[]> {
  const endpoints: Endpoint[] = await db('endpoints')
    .where({ installationId })
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
  const days = await rawRows<DayCounts>(
    db,
    `select * from delivery_counts where endpoint_id in ${jsonTexts(db)} order by endpoint_id, day`,
    [JSON.stringify(endpoints.map(({ id }) => id))],
  )
  const byEndpoint = Map.groupBy(days, ({ endpointId }) => endpointId)
  return endpoints.map((endpoint) => ({ ...endpoint, days: byEndpoint.get(endpoint.id) ?? [] }))
}

/** The events that it owes, or has owed, something for: an event that is published again after the move is known. */
export async function readEvents(
  db: Db,
  { installationId, after, limit }: Page,
): Promise<Omit<EventRow, 'organizationId'>[]> {
  const eventOf = `${lenientJson(db, 'subject')} -> 'event' ->> 'eventId'`
  return rawRows(
    db,
    `select id, type, payload, received_at from events
     where organization_id = (select organization_id from installations where id = ?) and id > ? and (
       exists (select 1 from deliveries where event_id = events.id
         and endpoint_id in (select id from endpoints where installation_id = ?))
       or id in (select ${eventOf} from jobs where lane = ?)
     ) order by id limit ?`,
    [installationId, after, installationId, installationId, limit],
  )
}

export type DeliveryWithAttempts = DeliveryWithBody & { attemptRows: AttemptRow[] }

export async function readDeliveries(
  db: Db,
  { installationId, after, limit }: Page,
): Promise<DeliveryWithAttempts[]> {
  const deliveries: DeliveryWithBody[] = await db('deliveries')
    .select('deliveries.*', 'bodies.body')
    .join('bodies', 'bodies.id', 'deliveries.bodyId')
    .where({ installationId })
    .where('deliveries.id', '>', after)
    .orderBy('deliveries.id')
    .limit(limit)
  const attempts = await rawRows<AttemptRow>(
    db,
    `select * from attempts where delivery_id in ${jsonTexts(db)} order by delivery_id, number`,
    [JSON.stringify(deliveries.map(({ id }) => id))],
  )
  const byDelivery = Map.groupBy(attempts, ({ deliveryId }) => deliveryId)
  return deliveries.map((delivery) => ({ ...delivery, attemptRows: byDelivery.get(delivery.id) ?? [] }))
}

/** What is owed, and what was given up of events and tasks. */
export type JobRow = {
  id: string
  kind: 'event' | 'task' | 'delivery'
  subject: string
  lane: string
  state: 'due' | 'waiting' | 'running' | 'failed'
  attempt: number
  interruptions: number
  dueAt: number
  lastError: string | null
  createdAt: number
  finishedAt: number | null
  ordered: boolean | number
  position: number
}

export async function readJobs(db: Db, { installationId, after, limit }: Page): Promise<JobRow[]> {
  return db('jobs')
    .where('id', '>', after)
    .where((lanes) =>
      lanes
        .where({ lane: installationId })
        .orWhereIn('lane', db('endpoints').select('id').where({ installationId })),
    )
    .orderBy('id')
    .limit(limit)
}

/** How much there is, to tell afterwards whether something was added or taken away meanwhile. */
export async function countMoved(
  db: Db,
  installationId: string,
): Promise<{ endpoint: number; delivery: number; attempt: number; job: number }> {
  const endpoints = db('endpoints').select('id').where({ installationId })
  const count = async (query: Knex.QueryBuilder): Promise<number> =>
    Number((await query.count({ count: '*' }).first())?.count)
  return {
    endpoint: await count(db('endpoints').where({ installationId })),
    delivery: await count(db('deliveries').where({ installationId })),
    attempt: await count(
      db('attempts').whereIn('deliveryId', db('deliveries').select('id').where({ installationId })),
    ),
    job: await count(db('jobs').where({ lane: installationId }).orWhereIn('lane', endpoints)),
  }
}
