import type { Db } from '../db.ts'
import { createId } from '../ids.ts'
import { forEachRow, jsonRows, toJson } from '../json-rows.ts'
import { inTexts, rawRows } from '../sql.ts'

/**
 * - `active`: its deliveries are sent
 * - `paused`: its deliveries wait for a resume
 * - `disabled`: Annex has given the receiver up. Its deliveries fail, and can be sent again after a resume
 */
export type ReceiverState = 'active' | 'paused' | 'disabled'

/** A URL of an installation, with the level whose secret signs its deliveries. */
export type Receiver = {
  id: string
  installationId: string
  /** The level whose secret signs: `installation`, `site:ID` or `space:ID`. */
  signedBy: string
  url: string
  state: ReceiverState
  reason: string | null
  /** Since then (Unix ms) no attempt was answered with 2xx; `null` after a success. */
  failingSince: number | null
  ordered: boolean
  createdAt: number
  updatedAt: number
}

export type ReceiverKey = Pick<Receiver, 'installationId' | 'signedBy' | 'url'>

export const receiverKeyColumns = { installationId: 'text', signedBy: 'text', url: 'text' } as const

/** Creates the receivers that do not exist. */
export async function ensureReceivers(db: Db, keys: readonly ReceiverKey[]): Promise<void> {
  const now = Date.now()
  const columns = { id: 'text', ...receiverKeyColumns, createdAt: 'bigint' } as const
  const rows = keys.map(({ installationId, signedBy, url }) => ({
    ...{ id: createId('rcv'), installationId, signedBy, url, createdAt: now },
  }))
  // `where true`: without it SQLite takes `on conflict` for a join's condition.
  await db.raw(
    `insert into receivers (id, installation_id, signed_by, url, state, ordered, created_at, updated_at)
     select id, installation_id, signed_by, url, 'active', false, created_at, created_at
     from ${jsonRows(db, 'new_receiver', columns)} where true
     on conflict (installation_id, signed_by, url) do nothing`,
    [toJson(rows, columns)],
  )
}

/** The fields of a receiver that a new delivery needs. */
export type KnownReceiver = ReceiverKey & Pick<Receiver, 'id' | 'state' | 'reason' | 'ordered'>

/** Receivers by their keys. A resume of a paused one waits for the transaction, and finds the jobs that it stores. */
export async function findReceiversOf(
  db: Db,
  keys: readonly ReceiverKey[],
): Promise<(key: ReceiverKey) => KnownReceiver | undefined> {
  const distinct = new Map(
    keys.map(({ installationId, signedBy, url }) => {
      const key = { installationId, signedBy, url }
      return [textOf(key), key]
    }),
  )
  const receivers = await rawRows<KnownReceiver>(
    db,
    `select receivers.id, receivers.installation_id, receivers.signed_by, receivers.url, receivers.state,
       receivers.reason, receivers.ordered
     from ${jsonRows(db, 'given', receiverKeyColumns)} join receivers on receivers.installation_id = given.installation_id
       and receivers.signed_by = given.signed_by and receivers.url = given.url`,
    [toJson([...distinct.values()], receiverKeyColumns)],
  )
  const found = new Map(receivers.map((receiver) => [textOf(receiver), receiver]))
  const paused = receivers.filter(({ state }) => state === 'paused')
  // Active receivers are not locked: each commit would wait for other hosts that store their health.
  const ids = paused.map(({ id }) => id)
  const resumed = ids.length === 0 ? [] : await findUnpaused(db, ids)
  for (const receiver of paused) if (resumed.includes(receiver.id)) receiver.state = 'active'
  return (key) => found.get(textOf(key))
}

const textOf = ({ installationId, signedBy, url }: ReceiverKey): string =>
  `${installationId} ${signedBy} ${url}`

export type OwnedReceiver = Receiver & { organizationId: string }

export async function findReceivers(db: Db, ids: readonly string[]): Promise<Map<string, OwnedReceiver>> {
  const rows = await rawRows<OwnedReceiver>(
    db,
    `select receivers.*, installations.organization_id from receivers
     join installations on installations.id = receivers.installation_id where receivers.id ${inTexts(db)}`,
    [JSON.stringify(ids)],
  )
  return new Map(rows.map((row) => [row.id, row]))
}

const healthColumns = { id: 'text', failingSince: 'bigint' } as const

export type Health = { id: string; failingSince: number | null }

/** Writes only changes: most attempts have the result of the one before. */
export const updateHealth = forEachRow<Health>({
  ...{ table: 'receivers', columns: healthColumns, key: ['id'] },
  sql: (given) =>
    `update receivers set failing_since = given.failing_since from ${given} where receivers.id = given.id
       and (receivers.failing_since is null) <> (given.failing_since is null)`,
})

/** @returns the ids of receivers that are not paused. A concurrent resume comes before this, or waits for the transaction. */
export async function findUnpaused(db: Db, ids: readonly string[]): Promise<string[]> {
  const rows: Pick<Receiver, 'id' | 'state'>[] = await db('receivers')
    .whereIn('id', ids)
    .select('id', 'state')
    .forShare()
  // As a condition of the statement, it would leave paused receivers unlocked.
  return rows.flatMap(({ id, state }) => (state === 'paused' ? [] : [id]))
}

/** @returns whether the receiver was active */
export async function disableReceiver(db: Db, id: string, reason: string): Promise<boolean> {
  const change = { state: 'disabled', reason, updatedAt: Date.now() }
  return (await db('receivers').where({ id, state: 'active' }).update(change)) === 1
}

/** The newest first. `before`: the id of a receiver, where the next page begins. */
export async function listReceivers(
  db: Db,
  where: {
    organizationId?: string
    installationId?: string
    state?: ReceiverState
    before?: string
    limit: number
  },
): Promise<Receiver[]> {
  const { organizationId, installationId, state, before, limit } = where
  const query = db('receivers').orderBy('id', 'desc').limit(limit)
  if (before !== undefined) query.where('id', '<', before)
  if (installationId !== undefined) query.where({ installationId })
  if (state !== undefined) query.where({ state })
  if (organizationId !== undefined) {
    query.whereIn('installationId', db('installations').select('id').where({ organizationId }))
  }
  return (await query).map(toReceiver)
}

export async function findReceiver(db: Db, id: string): Promise<Receiver | undefined> {
  const row = await db('receivers').where({ id }).first()
  return row && toReceiver(row)
}

/** SQLite keeps no booleans. */
const toReceiver = (row: Receiver): Receiver => ({ ...row, ordered: Boolean(row.ordered) })

/** Pending deliveries: `due` ones, those `waiting` for a resume, and since when (Unix ms) the oldest one is pending. */
export async function countPending(
  db: Db,
  id: string,
): Promise<{ due: number; waiting: number; oldestAt: number | null }> {
  const count = async (state: 'due' | 'running' | 'waiting') => {
    const jobs = db('jobs').where({ state, kind: 'delivery', lane: id })
    const row = await jobs.count({ count: '*' }).min({ oldestAt: 'createdAt' }).first()
    return { count: Number(row?.count ?? 0), oldestAt: Number(row?.oldestAt ?? Number.POSITIVE_INFINITY) }
  }
  const due = await count('due')
  const running = await count('running')
  const waiting = await count('waiting')
  const oldestAt = Math.min(due.oldestAt, running.oldestAt, waiting.oldestAt)
  return { due: due.count, waiting: waiting.count, oldestAt: Number.isFinite(oldestAt) ? oldestAt : null }
}

/** @returns whether the receiver was in a state of `from` */
export async function changeReceiverState(
  db: Db,
  id: string,
  change: { from: readonly ReceiverState[]; to: ReceiverState; reason: string | null },
): Promise<boolean> {
  const { from, to: state, reason } = change
  const wellAgain = state === 'active' ? { failingSince: null } : {}
  const changed = await db('receivers')
    .where({ id })
    .whereIn('state', from)
    .update({ state, reason, ...wellAgain, updatedAt: Date.now() })
  return changed === 1
}

export async function setOrdered(db: Db, id: string, ordered: boolean): Promise<void> {
  await db('receivers').where({ id }).update({ ordered, updatedAt: Date.now() })
}

/**
 * Marks deliveries that run.
 *
 * @param db not a transaction: commits of results lock these rows in another order, so it would deadlock
 */
export async function markRunning(db: Db, id: string, ordered: boolean): Promise<void> {
  // Few jobs run at once. A job that has ended since the read may be due again.
  const running = await db('jobs').whereRaw(`state = 'running'`).where({ lane: id }).pluck('id')
  for (const job of running) {
    await db('jobs').where({ id: job }).whereIn('state', ['running', 'due']).update({ ordered })
  }
}

/** The cursor of a delivery among the due deliveries of a receiver. */
export type DueCursor = { dueAt: number; id: string }

/**
 * Marks the next `limit` due deliveries of a receiver. A release marks waiting deliveries. The new
 * due time makes hosts read the jobs again.
 *
 * @returns the last cursor, `undefined` at the end
 */
export async function markOrdered(
  db: Db,
  given: { receiverId: string; ordered: boolean; after: DueCursor; limit: number },
): Promise<DueCursor | undefined> {
  const { receiverId, ordered, after, limit } = given
  const rows = await db('jobs')
    .select('id', 'dueAt')
    .where({ state: 'due', kind: 'delivery', lane: receiverId, ordered: !ordered })
    .whereRaw('(due_at, id) > (?, ?)', [after.dueAt, after.id])
    .orderBy(['dueAt', 'id'])
    .limit(limit)
  const ids = rows.map(({ id }) => id)
  if (ids.length > 0) {
    await db('jobs')
      .whereIn('id', ids)
      .where({ state: 'due' })
      .update({ ordered, dueAt: db.raw('due_at + 1') })
  }
  return rows.length === limit ? rows.at(-1) : undefined
}
