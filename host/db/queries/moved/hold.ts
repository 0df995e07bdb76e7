import type { Db } from '../../db.ts'
import { isPostgres, jsonTexts, rawRows } from '../../rows/json-rows.ts'
import { changeSomeJobs } from '../jobs.ts'

export async function isMoving(db: Db, installationId: string): Promise<boolean> {
  const row = await db('installations').where({ id: installationId }).first('status')
  return row?.status === 'moving'
}

/**
 * Whoever owes something to installations asks this first, in the same transaction: none of these moves, or begins to before
 * it is over, and their exports have what it stores. On PostgreSQL others work beside it.
 *
 * @returns the ids of those that do not move
 */
export async function lockStaying(transaction: Db, ids: readonly string[]): Promise<Set<string>> {
  const staying = transaction('installations')
    .whereIn('id', [...new Set(ids)])
    .whereNot({ status: 'moving' })
  if (isPostgres(transaction)) staying.forKeyShare()
  return new Set(await staying.pluck('id'))
}

/**
 * Holds an installation: nothing more is owed to it, and what it owes is not done. A resume gives back the status that it had,
 * `active` to one that was paused. What is being owed to it comes before this (`lockStaying`).
 *
 * @returns how many of its jobs still run, and whether some are due (`holdSomeDue`); `undefined` when there is no such installation
 */
export async function holdInstallation(
  transaction: Db,
  id: string,
  reason: string,
): Promise<{ running: number; isDue: boolean } | undefined> {
  const row = await transaction('installations').where({ id }).forUpdate().first('status', 'suspendedFrom')
  if (row === undefined) return undefined
  const suspendedFrom = row.status === 'pending' ? 'pending' : row.suspendedFrom
  const held = { status: 'moving', statusReason: reason, suspendedFrom }
  await transaction('installations')
    .where({ id })
    .update({ ...held, suspendedAt: null, suspendedDigest: null })
  const lanes = JSON.stringify(await lanesOf(transaction, id))
  // At one moment: others claim what is due, and what runs may be due again.
  const [owed] = await rawRows<{ running: number; due: number }>(
    transaction,
    `select (select count(*) from jobs where state = 'running' and lane in ${jsonTexts(transaction)}) as running,
       (select count(*) from (${dueOf(transaction)}) as owed) as due`,
    [lanes, lanes, 1],
  )
  return { running: Number(owed?.running), isDue: Number(owed?.due) > 0 }
}

/**
 * Makes up to `limit` jobs wait that an installation owes, its deliveries too, as long as it moves. What ran may be due again, and
 * what somebody is claiming runs afterwards.
 *
 * @returns how many
 */
export async function holdSomeDue(transaction: Db, id: string, limit: number): Promise<number> {
  const moving = transaction('installations').where({ id, status: 'moving' })
  // Whoever resumes it releases what waits after this.
  if (isPostgres(transaction)) moving.forShare()
  if ((await moving.first('id')) === undefined) return 0
  const lanes = JSON.stringify(await lanesOf(transaction, id))
  return changeSomeJobs(transaction, `state = 'waiting'`, dueOf(transaction), [lanes, limit])
}

/**
 * The ids of up to so many jobs that are due for lanes. Kinds are written out, as the index of what is due begins with them, and
 * PostgreSQL looks into it for one lane after the other, as a query with an offset is not made one with that around it: for all
 * at once it may read what others owe.
 */
function dueOf(db: Db): string {
  const isDue = `state = 'due' and kind in ('event', 'task', 'delivery')`
  if (!isPostgres(db)) return `select id from jobs where ${isDue} and lane in ${jsonTexts(db)} limit ?`
  const ofLane = `select id from jobs where ${isDue} and lane = lanes.lane offset 0`
  return `select due.id from jsonb_array_elements_text(?::jsonb) as lanes (lane), lateral (${ofLane}) as due limit ?`
}

/** Whose turn its jobs take: its own for scripts, an endpoint's for deliveries. */
export const lanesOf = async (db: Db, id: string): Promise<string[]> => [
  id,
  ...(await db('endpoints').where({ installationId: id }).pluck('id')),
]
