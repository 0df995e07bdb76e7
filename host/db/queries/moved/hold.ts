import type { Db } from '../../db.ts'
import { isPostgres, jsonTexts, rawRows } from '../../rows/json-rows.ts'

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
 * Holds an installation and whatever it owes, its deliveries too. A resume gives back the status that it had, `active` to
 * one that was paused. What is being owed to it comes before this (`lockStaying`). To be called again until nothing runs any more:
 * what ran may be due again.
 *
 * @returns how many of its jobs still run, `undefined` when there is no such installation
 */
export async function holdInstallation(
  transaction: Db,
  id: string,
  reason: string,
): Promise<{ running: number } | undefined> {
  const row = await transaction('installations').where({ id }).forUpdate().first('status', 'suspendedFrom')
  if (row === undefined) return undefined
  const suspendedFrom = row.status === 'pending' ? 'pending' : row.suspendedFrom
  const held = { status: 'moving', statusReason: reason, suspendedFrom }
  await transaction('installations')
    .where({ id })
    .update({ ...held, suspendedAt: null, suspendedDigest: null })
  const lanes = await lanesOf(transaction, id)
  await transaction.raw(
    `update jobs set state = 'waiting' where state = 'due' and lane in ${jsonTexts(transaction)}`,
    [JSON.stringify(lanes)],
  )
  const [running] = await rawRows<{ count: number }>(
    transaction,
    `select count(*) as count from jobs where state = 'running' and lane in ${jsonTexts(transaction)}`,
    [JSON.stringify(lanes)],
  )
  return { running: Number(running?.count) }
}

/** Takes out an installation with all that it owes; its logs and receipts stay. */
export async function deleteInstallation(transaction: Db, id: string): Promise<void> {
  const lanes = await lanesOf(transaction, id)
  await transaction.raw(`delete from jobs where lane in ${jsonTexts(transaction)}`, [JSON.stringify(lanes)])
  const theirs = (column: string) => transaction('deliveries').select(column).where({ installationId: id })
  await transaction('bodies').whereIn('id', theirs('bodyId')).delete()
  await transaction('attempts').whereIn('deliveryId', theirs('id')).delete()
  await transaction('deliveries').where({ installationId: id }).delete()
  await transaction('installations').where({ id }).delete()
}

/** Whose turn its jobs take: its own for scripts, an endpoint's for deliveries. */
const lanesOf = async (db: Db, id: string): Promise<string[]> => [
  id,
  ...(await db('endpoints').where({ installationId: id }).pluck('id')),
]
