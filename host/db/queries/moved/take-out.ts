import type { Db } from '../../db.ts'
import { jsonTexts } from '../../rows/json-rows.ts'
import { lanesOf } from './hold.ts'

/** Deletes up to `limit` deliveries of an installation, with their attempts and bodies. @returns how many */
export async function deleteSomeDeliveries(transaction: Db, id: string, limit: number): Promise<number> {
  const some: { id: string; bodyId: string }[] = await transaction('deliveries')
    .select('id', 'bodyId')
    .where({ installationId: id })
    .orderBy('id')
    .limit(limit)
  const ids = JSON.stringify(some.map((delivery) => delivery.id))
  const bodyIds = JSON.stringify(some.map(({ bodyId }) => bodyId))
  const texts = jsonTexts(transaction)
  await transaction.raw(`delete from bodies where id in ${texts}`, [bodyIds])
  await transaction.raw(`delete from attempts where delivery_id in ${texts}`, [ids])
  await transaction.raw(`delete from deliveries where id in ${texts}`, [ids])
  return some.length
}

/** Deletes up to `limit` jobs that wait for an installation that is held, or for its endpoints. @returns how many */
export async function deleteSomeWaiting(transaction: Db, id: string, limit: number): Promise<number> {
  const texts = jsonTexts(transaction)
  const some = `select id from jobs where state = 'waiting' and lane in ${texts} limit ?`
  return transaction('jobs')
    .whereRaw(`id in (${some})`, [JSON.stringify(await lanesOf(transaction, id)), limit])
    .delete()
}

/** Deletes an installation with what else it owes; its logs and receipts stay. */
export async function deleteInstallation(transaction: Db, id: string): Promise<void> {
  const lanes = JSON.stringify(await lanesOf(transaction, id))
  await transaction.raw(`delete from jobs where lane in ${jsonTexts(transaction)}`, [lanes])
  await transaction('installations').where({ id }).delete()
}
