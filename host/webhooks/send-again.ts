import { nowOf } from '../db/database-clock.ts'
import type { Db } from '../db/db.ts'
import { inSteps, stepSize } from '../db/in-steps.ts'
import type { Database } from '../db/open-database.ts'
import type { Delivery } from '../db/queries/deliveries.ts'
import { findReceiver } from '../db/queries/receivers.ts'
import { bringForward, type FailedFilter, listFailed, sendAgain } from '../db/queries/send-again.ts'
import { transact } from '../db/sql.ts'
import { AnnexError } from '../errors.ts'

/** The limit of one request, so that it ends before clients and proxies time out. */
export const mostOfRequest = 100_000

/**
 * Sends one delivery now. A pending delivery keeps its round of the schedule. A settled delivery begins a new round.
 *
 * @param record stores more in the same transaction
 * @throws AnnexError `conflict` when it is being sent, or its receiver is paused or disabled
 */
export async function sendNow(
  db: Db,
  { id, receiverId }: Pick<Delivery, 'id' | 'receiverId'>,
  record: (transaction: Db) => Promise<void> = async () => {},
): Promise<void> {
  await assertSendable(db, receiverId)
  const dueAt = nowOf(db)
  const state = await transact(db, async (transaction) => {
    const sent = await sendAgain(transaction, [{ id, dueAt }])
    const now = sent.length > 0 ? 'due' : await bringForward(transaction, id, dueAt)
    if (now === 'due') await record(transaction)
    return now
  })
  if (state === 'due') return
  if (state === 'running') {
    throw new AnnexError('conflict', `The delivery ${id} is being sent. Try again after this attempt.`)
  }
  if (state === 'waiting') {
    const text = `The delivery ${id} waits, as its receiver is paused. Resume it: npx annex receivers resume ${receiverId}`
    throw new AnnexError('conflict', text)
  }
  // The attempt has just ended.
  throw new AnnexError('conflict', `The delivery ${id} has just changed. Look at it, and try again.`)
}

/**
 * Sends failed deliveries again, the oldest first, in batches. The n-th is due `n / perSecond` seconds from now, so that a
 * receiver that has just recovered is not flooded. Each batch is a transaction. After a crash the next call skips the
 * pending deliveries.
 *
 * @param gone once it is aborted no further batch begins
 * @returns the number of deliveries that it has made pending
 */
export async function sendFailed(
  { db, longReader }: Pick<Database, 'db' | 'longReader'>,
  { filter, perSecond }: { filter: FailedFilter; perSecond: number },
  gone?: AbortSignal,
): Promise<number> {
  const startMs = nowOf(db)
  let after = ''
  let count = 0
  const sendBatch = async () => {
    const ids = await listFailed(longReader, filter, { after, limit: stepSize })
    const batch = ids.map((id, n) => ({ id, dueAt: startMs + Math.floor(((count + n) * 1_000) / perSecond) }))
    const sent = await transact(db, (transaction) => sendAgain(transaction, batch, filter.upToMs))
    after = ids.at(-1) ?? after
    count += sent.length
    return { changed: sent.length, more: ids.length === stepSize && count < mostOfRequest }
  }
  return inSteps(sendBatch, gone)
}

/** @throws AnnexError `conflict` when the receiver is disabled */
export async function assertSendable(db: Db, receiverId: string): Promise<void> {
  const receiver = await findReceiver(db, receiverId)
  if (receiver?.state !== 'disabled') return
  throw new AnnexError(
    'conflict',
    `The receiver ${receiverId} is disabled: ${receiver.reason ?? ''} Resume it first: npx annex receivers resume ${receiverId}`,
  )
}
