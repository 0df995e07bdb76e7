import { createId } from '../ids.ts'
import type { Db } from '../open-database.ts'

export type DeliveryState = 'owed' | 'delivered' | 'failed'

/** One event owed to one URL. */
export type Delivery = {
  id: string
  eventId: string
  eventType: string
  installationId: string
  /** Whose secret signs it: `installation`, `site:ID` or `space:ID`. */
  signedBy: string
  url: string
  body: string
  hops: number
  state: DeliveryState
  reason: string | null
  attempts: number
  createdAt: number
  finishedAt: number | null
}

/** One try at a delivery. Headers are JSON text. */
export type AttemptRow = {
  id: string
  deliveryId: string
  number: number
  startedAt: number
  durationMs: number
  outcome: string
  status: number | null
  requestHeaders: string
  responseHeaders: string | null
  responseBody: string | null
  errorCode: string | null
  errorMessage: string | null
}

type DeliveryKey = Pick<Delivery, 'installationId' | 'eventId' | 'url' | 'signedBy'>

/** @returns the delivery, and whether it is new: a handler that runs twice for an event owes it once */
export async function ensureDelivery(
  db: Db,
  given: DeliveryKey & Pick<Delivery, 'eventType' | 'body' | 'hops'>,
): Promise<{ delivery: Delivery; created: boolean }> {
  const { installationId, eventId, url, signedBy } = given
  const row = {
    id: createId('dlv'),
    ...given,
    state: 'owed',
    reason: null,
    attempts: 0,
    createdAt: Date.now(),
    finishedAt: null,
  }
  const key = ['installationId', 'eventId', 'url', 'signedBy']
  const [inserted] = await db('deliveries').insert(row).onConflict(key).ignore().returning('*')
  if (inserted !== undefined) return { delivery: inserted, created: true }
  const delivery = await db('deliveries').where({ installationId, eventId, url, signedBy }).first()
  return { delivery, created: false }
}

export async function findDelivery(db: Db, id: string): Promise<Delivery | undefined> {
  return db('deliveries').where({ id }).first()
}

/** The newest first. */
export async function listDeliveries(
  db: Db,
  where: {
    organizationId?: string
    installationId?: string
    eventId?: string
    state?: DeliveryState
    before?: string
    limit: number
  },
): Promise<Delivery[]> {
  const query = db('deliveries').orderBy('id', 'desc').limit(where.limit)
  if (where.before !== undefined) query.where('id', '<', where.before)
  if (where.installationId !== undefined) query.where({ installationId: where.installationId })
  if (where.eventId !== undefined) query.where({ eventId: where.eventId })
  if (where.state !== undefined) query.where({ state: where.state })
  if (where.organizationId !== undefined) {
    const { organizationId } = where
    query.whereIn('installationId', db('installations').select('id').where({ organizationId }))
  }
  return query
}

export async function insertAttempt(db: Db, given: Omit<AttemptRow, 'id'>): Promise<void> {
  await db('attempts').insert({ id: createId('att'), ...given })
}

export async function listAttempts(db: Db, deliveryId: string): Promise<AttemptRow[]> {
  return db('attempts').where({ deliveryId }).orderBy('number')
}

export async function updateDelivery(
  db: Db,
  id: string,
  change: Partial<Pick<Delivery, 'state' | 'reason' | 'attempts' | 'finishedAt'>>,
): Promise<void> {
  await db('deliveries').where({ id }).update(change)
}
