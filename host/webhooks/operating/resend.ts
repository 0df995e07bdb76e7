import { type Clock, nowOf } from '../../db/database-clock.ts'
import type { Db } from '../../db/db.ts'
import { stepSize } from '../../db/in-steps.ts'
import { findSome } from '../../db/looks/find-some.ts'
import { lookOn } from '../../db/looks/look-on.ts'
import { type Asker, lineOf } from '../../db/looks/turns.ts'
import type { Look } from '../../db/looks/window.ts'
import {
  countRunningResends,
  findResend,
  insertResend,
  oweSlices,
} from '../../db/queries/operating/resends.ts'
import {
  countSomeFailed,
  type FailedCount,
  type FailedFilter,
  listSomeFailed,
} from '../../db/queries/operating/send-again.ts'
import { AnnexError } from '../../errors/annex-error.ts'
import { handleEach, type JobHandler, type JobOutcome, stored } from '../../queue/job-handler.ts'

/** How far ahead deliveries are owed: what somebody stops comes to its end within as many seconds. */
const aheadSeconds = 10

/** At once, of an organization or of all operators. */
const mostRunning = 10

/** Counts what has failed. */
export async function countFailed(db: Db, asker: Asker, filter: FailedFilter): Promise<FailedCount> {
  const sum = { count: 0, disabled: 0 }
  let place: string | undefined
  const look = async (rows: number | undefined) => {
    const { reached, ...some } = await countSomeFailed(db, filter, { place, rows })
    sum.count += some.count
    sum.disabled += some.disabled
    place = reached
    return reached !== undefined
  }
  await lookOn(db, asker, look)
  return sum
}

/**
 * Has all deliveries sent again that have failed until now, by a job of its own: it goes on after a restart.
 *
 * @param own whose resend it is: an organization's, or operators'
 * @param given.perSecond how many come due each second, so that a receiver that has just come back is not run over
 * @param given.count how many there are
 * @returns the id of the resend
 * @throws AnnexError `conflict` when as many are running as may
 */
export async function startResend(
  db: Db,
  own: { organizationId?: string },
  given: { filter: FailedFilter; perSecond: number; count: number },
): Promise<string> {
  return db.transaction(async (transaction) => {
    if ((await countRunningResends(transaction, own)) >= mostRunning) {
      throw new AnnexError(
        'conflict',
        `${mostRunning} resends are running already. Wait for one, or stop one: annex resends stop ID`,
      )
    }
    return insertResend(transaction, own, given)
  })
}

/** Until now: what fails again, or from now on, is not sent again by it. */
export const untilNow = (db: Db, filter: Omit<FailedFilter, 'upToMs'>): FailedFilter => ({
  ...filter,
  upToMs: nowOf(db),
})

/**
 * Does jobs of kind `resend`: each time the next deliveries are owed again, spread over the seconds to come, and the job
 * is due again when they are through.
 *
 * @param given.db reads what is to be sent, which may be far
 * @param given.wake there is work for those who send
 */
export function createRunResend(given: { db: Db; clock: Clock; wake: () => void }): JobHandler {
  const { db, clock, wake } = given
  return handleEach(async ({ subject }): Promise<JobOutcome> => {
    const resend = await findResend(db, (JSON.parse(subject) as { id: string }).id)
    if (resend === undefined || resend.state !== 'running') return { move: { state: 'gone' } }
    const { id, filter, perSecond, after } = resend
    const limit = Math.min(stepSize, Math.ceil(perSecond * aheadSeconds))
    // The longest owed first.
    const look = (here: Look) => listSomeFailed(db, filter, here)
    const found = await findSome(db, { line: lineOf(filter) }, { place: after, limit }, look)
    const nowMs = clock.now()
    const dueAtOf = (n: number) => nowMs + Math.floor((n * 1_000) / perSecond)
    const deliveries = found.map((id, n) => ({ id, dueAt: dueAtOf(n) }))
    const isLast = found.length < limit
    return {
      move: isLast
        ? { state: 'gone' }
        : { state: 'due', dueAtMs: dueAtOf(found.length), reason: 'The next ones are sent again then.' },
      stores: [stored(oweSlices, { id, deliveries, isLast })],
      onStored: wake,
    }
  })
}
