import type { Knex } from 'knex'
import { countFitting } from '../../../count-fitting.ts'
import type { Db } from '../../db.ts'
import { jsonTexts, lenientJson, rawRows } from '../../rows/json-rows.ts'
import type { AttemptRow } from '../attempts.ts'
import type { DeliveryWithBody } from '../deliveries.ts'
import type { Endpoint } from '../endpoints.ts'
import type { EventRow } from '../events.ts'
import type { DayCounts } from '../operating/counts.ts'

/** A part of what there is of an installation: by id, after the last one of the part before; up to so many rows, or so much text. */
export type Page = { installationId: string; after: string; limit: number; mostText: number }

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
export async function readEvents(db: Db, page: Page): Promise<Omit<EventRow, 'organizationId'>[]> {
  const { installationId, after, limit } = page
  const eventOf = `${lenientJson(db, 'subject')} -> 'event' ->> 'eventId'`
  const theirs = 'organization_id = (select organization_id from installations where id = ?)'
  const next = await rawRows<Sized>(
    db,
    `select id, octet_length(payload) as length from events
     where ${theirs} and id > ? and (
       exists (select 1 from deliveries where event_id = events.id
         and endpoint_id in (select id from endpoints where installation_id = ?))
       or id in (select ${eventOf} from jobs where lane = ?)
     ) order by id limit ?`,
    [installationId, after, installationId, installationId, limit],
  )
  return rawRows(
    db,
    `select id, type, payload, received_at from events where ${theirs} and id in ${jsonTexts(db)} order by id`,
    [installationId, JSON.stringify(idsWithin(next, page))],
  )
}

/** A row, and how long its longest text is, in bytes: both databases know that without reading it. */
type Sized = { id: string; length: number }

function idsWithin(rows: readonly Sized[], { mostText }: Page): string[] {
  const count = countFitting(rows, mostText, ({ length }) => length)
  return rows.slice(0, count).map(({ id }) => id)
}

export type DeliveryWithAttempts = DeliveryWithBody & { attemptRows: AttemptRow[] }

export async function readDeliveries(db: Db, page: Page): Promise<DeliveryWithAttempts[]> {
  const { installationId, after, limit } = page
  const withBodies = () => db('deliveries').join('bodies', 'bodies.id', 'deliveries.bodyId')
  const next: Sized[] = await withBodies()
    .select('deliveries.id', db.raw('octet_length(bodies.body) as length'))
    .where({ installationId })
    .where('deliveries.id', '>', after)
    .orderBy('deliveries.id')
    .limit(limit)
  const deliveries: DeliveryWithBody[] = await withBodies()
    .select('deliveries.*', 'bodies.body')
    .whereIn('deliveries.id', idsWithin(next, page))
    .orderBy('deliveries.id')
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

/** @param upTo the id of the last one (`findLastJob`): events go on being stored for an installation that moves */
export async function readJobs(db: Db, page: Page, upTo: string): Promise<JobRow[]> {
  const { installationId, after, limit } = page
  const next: Sized[] = await jobsOf(db, installationId)
    .select('id', db.raw('octet_length(subject) as length'))
    .where('id', '>', after)
    .where('id', '<=', upTo)
    .orderBy('id')
    .limit(limit)
  return db('jobs').whereIn('id', idsWithin(next, page)).orderBy('id')
}

/** @returns an empty text where there is none */
export async function findLastJob(db: Db, installationId: string): Promise<string> {
  const row = await jobsOf(db, installationId).max({ id: 'id' }).first()
  return row?.id ?? ''
}

/** How much there is, to tell afterwards whether something was added or taken away meanwhile; jobs up to the one of that id. */
export async function countMoved(
  db: Db,
  installationId: string,
  lastJob: string,
): Promise<{ endpoint: number; delivery: number; attempt: number; job: number }> {
  const count = async (query: Knex.QueryBuilder): Promise<number> =>
    Number((await query.count({ count: '*' }).first())?.count)
  return {
    endpoint: await count(db('endpoints').where({ installationId })),
    delivery: await count(db('deliveries').where({ installationId })),
    attempt: await count(
      db('attempts').whereIn('deliveryId', db('deliveries').select('id').where({ installationId })),
    ),
    job: await count(jobsOf(db, installationId).where('id', '<=', lastJob)),
  }
}

const jobsOf = (db: Db, installationId: string): Knex.QueryBuilder =>
  db('jobs').where((lanes) =>
    lanes
      .where({ lane: installationId })
      .orWhereIn('lane', db('endpoints').select('id').where({ installationId })),
  )
