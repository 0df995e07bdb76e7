import { nowOf } from '../../db/database-clock.ts'
import type { Db } from '../../db/db.ts'
import type { Delivery } from '../../db/queries/deliveries.ts'
import { isMoving } from '../../db/queries/moved/hold.ts'
import { findEndpoint } from '../../db/queries/operating/endpoints.ts'
import { oweAgain } from '../../db/queries/operating/send-again.ts'
import { AnnexError } from '../../errors/annex-error.ts'

/**
 * Owes one delivery again, whatever became of it, with a new round of the schedule.
 *
 * @throws AnnexError `conflict` when it is still owed, its endpoint is disabled, or its installation moves
 */
export async function sendAgain(
  db: Db,
  { id, endpointId }: Pick<Delivery, 'id' | 'endpointId'>,
): Promise<void> {
  await assertSendable(db, endpointId)
  const owed = await db.transaction((transaction) => oweAgain(transaction, [{ id, dueAt: nowOf(db) }]))
  if (owed.length > 0) return
  // It may have begun to move since.
  await assertSendable(db, endpointId)
  throw new AnnexError('conflict', `The delivery ${id} is still owed: its next attempt comes by itself.`)
}

/** @throws AnnexError `conflict` when the endpoint is disabled, or its installation moves */
export async function assertSendable(db: Db, endpointId: string): Promise<void> {
  const endpoint = await findEndpoint(db, endpointId)
  if (endpoint !== undefined) await assertNotMoving(db, endpoint.installationId)
  if (endpoint?.state !== 'disabled') return
  throw new AnnexError(
    'conflict',
    `The endpoint ${endpointId} is disabled: ${endpoint.reason ?? ''} Resume it first: annex endpoints resume ${endpointId}`,
  )
}

/**
 * What is owed from now on by an installation that was exported would be missing where it goes on.
 *
 * @throws AnnexError `conflict`
 */
export async function assertNotMoving(db: Db, installationId: string): Promise<void> {
  if (!(await isMoving(db, installationId))) return
  throw new AnnexError(
    'conflict',
    `The installation ${installationId} is being moved: send it where it goes on. If that is here, resume it first: annex resume ${installationId}`,
  )
}
