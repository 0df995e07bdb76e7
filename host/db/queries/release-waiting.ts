import { announce } from '../announce.ts'
import type { Db } from '../db.ts'
import { inSteps, stepSize } from '../in-steps.ts'
import { inTexts, transact } from '../sql.ts'
import { changeSomeJobs } from './jobs.ts'
import { findUnpaused } from './receivers.ts'
import { isHeld } from './suspensions.ts'

/** A person may have changed the receiver's order while the job waited. */
const released = `state = 'due', ordered = coalesce((select ordered from receivers where id = jobs.lane), ordered)`

/**
 * Makes up to `limit` waiting jobs of a lane due, the oldest first, unless the lane is paused or suspended. A concurrent pause
 * waits for the transaction. Jobs that another transaction is releasing are skipped.
 *
 * @returns the number of released jobs
 */
export async function releaseSomeWaiting(transaction: Db, lane: string, limit: number): Promise<number> {
  if (!(await isOpen(transaction, lane))) return 0
  const some = `select id from jobs where state = 'waiting' and lane = ? order by position limit ?`
  const changed = await changeSomeJobs(transaction, released, some, [lane, limit])
  if (changed > 0) announce(transaction, 'work')
  return changed
}

/** A lane is the id of a receiver or installation, or the name of an integration, which has no underscore. */
async function isOpen(transaction: Db, lane: string): Promise<boolean> {
  if (lane.startsWith('rcv_')) return (await findUnpaused(transaction, [lane])).length > 0
  const level = lane.startsWith('inst_') ? { integration: '', installationId: lane } : { integration: lane }
  return !(await isHeld(transaction, level))
}

/** Makes waiting jobs due. Jobs in other states stay. */
export async function releaseJobs(db: Db, ids: readonly string[]): Promise<void> {
  await db.raw(`update jobs set ${released} where state = 'waiting' and id ${inTexts(db)}`, [
    JSON.stringify(ids),
  ])
  announce(db, 'work')
}

/** The next lane after `after` that has waiting jobs. */
export async function findWaitingLane(db: Db, after: string): Promise<string | undefined> {
  const row = await db('jobs')
    .whereRaw(`state = 'waiting'`)
    .where('lane', '>', after)
    .orderBy('lane')
    .first('lane')
  return row?.lane
}

/**
 * Makes all waiting jobs of a lane due, in steps, until the lane is paused or suspended.
 *
 * @param ending once it is aborted, `releaseForgotten` does the rest
 * @returns the number of released jobs
 */
export function releaseWaiting(db: Db, lane: string, ending?: AbortSignal): Promise<number> {
  const step = async () => {
    const changed = await transact(db, (transaction) => releaseSomeWaiting(transaction, lane, stepSize))
    return { changed, more: changed === stepSize }
  }
  return inSteps(step, ending)
}

/**
 * Releases the waiting jobs of all lanes that are neither paused nor suspended: the end of a host may interrupt a resume.
 *
 * @param ending once it is aborted, the next round does the rest
 */
export async function releaseForgotten(db: Db, ending?: AbortSignal): Promise<void> {
  let lane = await findWaitingLane(db, '')
  while (lane !== undefined && !ending?.aborted) {
    await releaseWaiting(db, lane, ending)
    lane = await findWaitingLane(db, lane)
  }
}
