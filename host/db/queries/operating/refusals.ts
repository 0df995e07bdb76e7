import type { Db } from '../../db.ts'
import { createId } from '../../ids.ts'
import { jsonRows } from '../../sql.ts'
import type { Delivery } from '../deliveries.ts'

/** A delivery that fails without an attempt, and why. `finishedAt` is in Unix ms. */
export type Refusal = Pick<Delivery, 'id'> & { reason: string; finishedAt: number }

const columns = { id: 'text', reason: 'text', finishedAt: 'bigint', refusedId: 'text' } as const

/** Stores that deliveries have failed without an attempt, with a place in the live feed. A step of a group commit. */
export async function refuseDeliveries(db: Db, refusals: readonly Refusal[]): Promise<[]> {
  await db.raw(
    `update deliveries set state = 'failed', reason = refusal.reason, finished_at = refusal.finished_at,
       refused_id = refusal.refused_id
     from ${jsonRows(db, 'refusal', columns)} where deliveries.id = refusal.id`,
    [JSON.stringify(refusals.map((refusal) => ({ ...refusal, refusedId: createId('ref') })))],
  )
  return []
}
