import { AnnexError } from '../../errors.ts'
import { nowOf } from '../database-clock.ts'
import type { Db } from '../db.ts'
import { createId, withPrefix } from '../ids.ts'
import { forEachInserted, forEachNew, forEachRow } from '../json-rows.ts'
import { inTexts, rawRows } from '../sql.ts'
import { insertJobs, type NewJob } from './jobs.ts'
import {
  ensureReceivers,
  findReceiversOf,
  type KnownReceiver,
  type ReceiverKey,
  receiverKeyColumns,
} from './receivers.ts'

export type DeliveryState = 'pending' | 'delivered' | 'failed'

/** An event for one receiver. */
export type Delivery = {
  id: string
  eventId: string
  eventType: string
  installationId: string
  receiverId: string
  /** The level whose secret signs it: `installation`, `site:ID` or `space:ID`. */
  signedBy: string
  url: string
  /** Deliveries of one event that are queued together share a body. */
  bodyId: string
  hops: number
  state: DeliveryState
  reason: string | null
  attempts: number
  createdAt: number
  finishedAt: number | null
  /** For a delivery that failed without an attempt: its cursor in the live feed, an id of that time. */
  refusedId: string | null
  /** The request whose dispatch made it. An example for a receiver has none, nor has a delivery from before this column. */
  requestId: string | null
}

/** `body`: sent byte for byte. */
type DeliveryWithBody = Delivery & { body: string }

export type NewDelivery = ReceiverKey &
  Pick<DeliveryWithBody, 'eventId' | 'eventType' | 'body' | 'hops'> &
  Partial<Pick<Delivery, 'requestId'>>

/** `created`: false when the event already has a delivery to the receiver. `id` then names that delivery. */
export type QueuedDelivery = { id: string; receiverId: string; created: boolean }

const columns = {
  id: 'text',
  eventId: 'text',
  eventType: 'text',
  ...receiverKeyColumns,
  receiverId: 'text',
  bodyId: 'text',
  hops: 'bigint',
  state: 'text',
  reason: 'text',
  attempts: 'bigint',
  createdAt: 'bigint',
  finishedAt: 'bigint',
  requestId: 'text',
} as const
const insertRows = forEachNew<Delivery>({
  ...{ table: 'deliveries', columns, key: ['id'], unlessThere: ['receiverId', 'eventId'] },
})

type Row = NewDelivery & Pick<Delivery, 'id' | 'bodyId' | 'requestId' | 'createdAt'>
type Inserted = { delivery: DeliveryWithBody; receiver: Pick<KnownReceiver, 'state' | 'ordered'> }

/**
 * Stores deliveries and the jobs that send them. A handler that runs again for an event gets the deliveries of
 * its first run. A step of a group commit.
 */
export async function queueDeliveries(db: Db, given: readonly NewDelivery[]): Promise<QueuedDelivery[]> {
  const createdAt = Date.now()
  const bodies = new Map<string, Body[]>()
  const rows = given.map((delivery): Row => {
    const id = createId('dlv')
    const bodyId = bodyIn(bodies, id, delivery).id
    return { ...delivery, requestId: delivery.requestId ?? null, id, bodyId, createdAt }
  })
  const inserted = await insertDeliveries(db, rows)
  if (inserted.length < rows.length) inserted.push(...(await insertWithReceivers(db, rows, inserted)))
  const used = new Set(inserted.map(({ delivery }) => delivery.bodyId))
  const sent = inserted.filter(({ receiver }) => receiver.state !== 'disabled')
  const dueAt = nowOf(db)
  await insertJobs(
    db,
    sent.map(({ delivery, receiver }) =>
      toDeliveryJob({ ...delivery, bodySize: Buffer.byteLength(delivery.body) }, receiver, dueAt),
    ),
  )
  await insertBodies(
    db,
    [...bodies.values()].flat().filter(({ id }) => used.has(id)),
  )
  const created = new Map(inserted.map(({ delivery }) => [delivery.id, delivery]))
  return Promise.all(
    rows.map((row): QueuedDelivery | Promise<QueuedDelivery> => {
      const delivery = created.get(row.id)
      return delivery === undefined
        ? findQueued(db, row)
        : { id: delivery.id, receiverId: delivery.receiverId, created: true }
    }),
  )
}

/** The job that sends a delivery. Both ids differ in their prefix alone. The job waits while the receiver is paused. */
export const toDeliveryJob = (
  {
    id,
    receiverId,
    installationId,
    bodySize,
  }: Pick<Delivery, 'id' | 'receiverId' | 'installationId'> & { bodySize: number },
  { state, ordered }: Pick<KnownReceiver, 'state' | 'ordered'>,
  dueAt: number,
): NewJob => ({
  id: withPrefix(id, 'job'),
  kind: 'delivery',
  subject: { id },
  lane: receiverId,
  owner: installationId,
  textSize: bodySize,
  dueAt,
  state: state === 'paused' ? 'waiting' : 'due',
  ordered: Boolean(ordered),
})

/** Creates the receivers that do not exist, and stores the deliveries to them. */
async function insertWithReceivers(
  db: Db,
  rows: readonly Row[],
  inserted: readonly Inserted[],
): Promise<Inserted[]> {
  const ids = new Set(inserted.map(({ delivery }) => delivery.id))
  const left = rows.filter(({ id }) => !ids.has(id))
  await ensureReceivers(db, left)
  return insertDeliveries(db, left)
}

/** A delivery to a disabled receiver is stored as failed. A person can send it again after a resume. */
async function insertDeliveries(db: Db, rows: readonly Row[]): Promise<Inserted[]> {
  const receiverOf = await findReceiversOf(db, rows)
  const known = rows.flatMap((row): Inserted[] => {
    const receiver = receiverOf(row)
    if (receiver === undefined) return []
    const delivery = { ...row, receiverId: receiver.id, attempts: 0, refusedId: null }
    return [{ delivery: { ...delivery, ...toState(receiver, row.createdAt) }, receiver }]
  })
  const areNew = await insertRows(
    db,
    known.map(({ delivery }) => delivery),
  )
  return known.filter((_one, n) => areNew[n])
}

const toState = (
  { state, reason }: KnownReceiver,
  nowMs: number,
): Pick<Delivery, 'state' | 'reason' | 'finishedAt'> =>
  state === 'disabled'
    ? { state: 'failed', reason: `receiver_disabled: ${reason ?? ''}`, finishedAt: nowMs }
    : { state: 'pending', reason: null, finishedAt: null }

/** The earlier delivery of the event to the receiver. */
async function findQueued(db: Db, { installationId, signedBy, url, eventId }: Row): Promise<QueuedDelivery> {
  const receiver = db('receivers').select('id').where({ installationId, signedBy, url })
  const row = await db('deliveries').where({ eventId, receiverId: receiver }).first('id', 'receiverId')
  if (row !== undefined) return { ...row, created: false }
  // On PostgreSQL a delivery can be pruned between two statements of a transaction.
  throw new AnnexError(
    'conflict',
    `The delivery of ${eventId} to ${url} was deleted meanwhile. Queue it again.`,
  )
}

type Body = { id: string; body: string }

/** The body that a delivery shares with other deliveries of its event. Its id is derived from the first delivery. */
function bodyIn(
  bodies: Map<string, Body[]>,
  deliveryId: string,
  { installationId, eventId, body }: NewDelivery,
): Body {
  const event = `${installationId} ${eventId}`
  const ofEvent = bodies.get(event) ?? []
  const found = ofEvent.find((one) => one.body === body)
  if (found !== undefined) return found
  const first = { id: withPrefix(deliveryId, 'body'), body }
  bodies.set(event, [...ofEvent, first])
  return first
}

const bodyColumns = { id: 'text', body: 'text' } as const

const insertBodies = forEachInserted<Body>({ table: 'bodies', columns: bodyColumns })

/** The columns of a delivery that an attempt needs. */
export type DeliveryToSend = Pick<
  DeliveryWithBody,
  | 'id'
  | 'eventId'
  | 'installationId'
  | 'receiverId'
  | 'signedBy'
  | 'url'
  | 'hops'
  | 'attempts'
  | 'createdAt'
  | 'body'
>

export async function loadDeliveries(db: Db, ids: readonly string[]): Promise<DeliveryToSend[]> {
  return rawRows(
    db,
    `select deliveries.id, event_id, installation_id, receiver_id, signed_by, url, hops, attempts, created_at, body
     from deliveries
     join bodies on bodies.id = deliveries.body_id where deliveries.id ${inTexts(db)}`,
    [JSON.stringify(ids)],
  )
}

export async function findBody(db: Db, id: string): Promise<string | undefined> {
  return (await db('bodies').where({ id }).first('body'))?.body
}

export async function findDeliveries(db: Db, ids: readonly string[]): Promise<Delivery[]> {
  return rawRows(db, `select * from deliveries where id ${inTexts(db)}`, [JSON.stringify(ids)])
}

/** The columns of a delivery that an attempt changes. */
export type DeliveryChange = Pick<Delivery, 'id' | 'state' | 'reason' | 'attempts' | 'finishedAt'>

const changeColumns = {
  id: 'text',
  state: 'text',
  reason: 'text',
  attempts: 'bigint',
  finishedAt: 'bigint',
} as const

export const updateDeliveries = forEachRow<DeliveryChange>({
  ...{ table: 'deliveries', columns: changeColumns, key: ['id'] },
  sql: (
    given,
  ) => `update deliveries set state = given.state, reason = given.reason, attempts = given.attempts,
    finished_at = given.finished_at from ${given} where deliveries.id = given.id`,
})

/** A delivery that fails without an attempt. `finishedAt` is in Unix ms. */
export type Refusal = Pick<Delivery, 'id'> & { reason: string; finishedAt: number }

const refuseRows = forEachRow<Refusal & { refusedId: string }>({
  ...{ table: 'deliveries', key: ['id'] },
  columns: { id: 'text', reason: 'text', finishedAt: 'bigint', refusedId: 'text' } as const,
  sql: (
    given,
  ) => `update deliveries set state = 'failed', reason = given.reason, finished_at = given.finished_at,
    refused_id = given.refused_id from ${given} where deliveries.id = given.id`,
})

/** Marks deliveries as failed without an attempt, with a cursor in the feed. A step of a group commit. */
export async function refuseDeliveries(db: Db, refusals: readonly Refusal[]): Promise<[]> {
  await refuseRows(
    db,
    refusals.map((refusal) => ({ ...refusal, refusedId: createId('ref') })),
  )
  return []
}
