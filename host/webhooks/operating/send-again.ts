import { nowOf } from '../../db/database-clock.ts'
import type { Db } from '../../db/open-database.ts'
import type { Delivery } from '../../db/queries/deliveries.ts'
import { findEndpoint } from '../../db/queries/operating/endpoints.ts'
import { type FailedFilter, listFailed, oweAgain } from '../../db/queries/operating/send-again.ts'
import { AnnexError } from '../../errors/annex-error.ts'
import { inSteps, stepSize } from './in-steps.ts'

/**
 * Owes one delivery again, whatever became of it, with a new round of the schedule.
 *
 * @throws AnnexError `conflict` when it is still owed, or its endpoint is disabled
 */
export async function sendAgain(
  db: Db,
  { id, endpointId }: Pick<Delivery, 'id' | 'endpointId'>,
): Promise<void> {
  await assertSendable(db, endpointId)
  const owed = await db.transaction((transaction) => oweAgain(transaction, [{ id, dueAt: nowOf(db) }]))
  if (owed.length === 0) {
    throw new AnnexError('conflict', `The delivery ${id} is still owed: its next attempt comes by itself.`)
  }
}

/** @throws AnnexError `conflict` when the endpoint is disabled */
export async function assertSendable(db: Db, endpointId: string): Promise<void> {
  const endpoint = await findEndpoint(db, endpointId)
  if (endpoint?.state !== 'disabled') return
  throw new AnnexError(
    'conflict',
    `The endpoint ${endpointId} is disabled: ${endpoint.reason ?? ''} Resume it first: annex endpoints resume ${endpointId}`,
  )
}

/**
 * Owes all deliveries again that the filter finds, each once, in small steps. Their first attempts are spread over
 * time, so that a receiver that has just come back is not run over.
 *
 * @param perSecond how many come due each second
 * @returns how many
 */
export function sendFailed(
  db: Db,
  filter: FailedFilter,
  perSecond: number,
  wake: () => void,
): Promise<number> {
  const nowMs = nowOf(db)
  let after = ''
  let count = 0
  return inSteps(async () => {
    const ids = await listFailed(db, filter, { after, limit: stepSize })
    const all = ids.map((id, n) => ({
      id,
      dueAt: nowMs + Math.floor(((count + n) * 1_000) / perSecond),
    }))
    const owed = await db.transaction((transaction) => oweAgain(transaction, all))
    after = ids.at(-1) ?? after
    count += ids.length
    wake()
    return { changed: owed.length, more: ids.length === stepSize }
  })
}
