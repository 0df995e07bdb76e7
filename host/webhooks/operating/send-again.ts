import { nowOf } from '../../db/database-clock.ts'
import type { Db } from '../../db/db.ts'
import type { Delivery } from '../../db/queries/deliveries.ts'
import { findEndpoint } from '../../db/queries/operating/endpoints.ts'
import { bringForward, oweAgain } from '../../db/queries/operating/send-again.ts'
import { AnnexError } from '../../errors/annex-error.ts'

/**
 * Sends one delivery now, whatever became of it. An owed one has its next attempt at once, in the round of the schedule that it is in;
 * any other begins a new round.
 *
 * @throws AnnexError `conflict` when it is being sent, or its endpoint is paused or disabled
 */
export async function sendNow(
  db: Db,
  { id, endpointId }: Pick<Delivery, 'id' | 'endpointId'>,
): Promise<void> {
  await assertSendable(db, endpointId)
  const dueAt = nowOf(db)
  const owed = await db.transaction((transaction) => oweAgain(transaction, [{ id, dueAt }]))
  if (owed.length > 0) return
  const state = await bringForward(db, id, dueAt)
  if (state === 'due') return
  if (state === 'running') {
    throw new AnnexError('conflict', `The delivery ${id} is being sent: look at it when the attempt is over.`)
  }
  if (state === 'waiting') {
    const text = `The delivery ${id} waits, as its endpoint is paused. Resume it: annex endpoints resume ${endpointId}`
    throw new AnnexError('conflict', text)
  }
  // Its attempt has ended just now.
  throw new AnnexError('conflict', `The delivery ${id} has changed meanwhile: look at it, and ask again.`)
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
