import type { Db } from '../../db.ts'
import { jsonTexts } from '../../sql.ts'
import { findUnpaused } from '../endpoints.ts'
import { isHeld } from '../installed/suspensions.ts'
import { changeSomeJobs } from '../jobs.ts'

/** Released, deliveries are done in the order that their endpoint keeps now. */
const released = `state = 'due', ordered = coalesce((select ordered from endpoints where id = jobs.lane), ordered)`

/**
 * Makes up to `limit` jobs due that wait for a lane, the longest owed first, unless it is held: whoever is to hold it waits for
 * the end of the transaction, and finds them due. Those that somebody else is releasing are left to them.
 *
 * @returns how many
 */
export async function releaseSomeWaiting(transaction: Db, lane: string, limit: number): Promise<number> {
  if (!(await isOpen(transaction, lane))) return 0
  const some = `select id from jobs where state = 'waiting' and lane = ? order by position limit ?`
  return changeSomeJobs(transaction, released, some, [lane, limit])
}

/** A lane is an endpoint's, an installation's, or an integration's by its name, which has no underscore. */
async function isOpen(transaction: Db, lane: string): Promise<boolean> {
  if (lane.startsWith('ep_')) return (await findUnpaused(transaction, [lane])).length > 0
  const level = lane.startsWith('inst_') ? { integration: '', installationId: lane } : { integration: lane }
  return !(await isHeld(transaction, level))
}

/** Makes those of the jobs due that wait. */
export async function releaseJobs(db: Db, ids: readonly string[]): Promise<void> {
  await db.raw(`update jobs set ${released} where state = 'waiting' and id in ${jsonTexts(db)}`, [
    JSON.stringify(ids),
  ])
}

/** The next lane after `after` for which something waits. */
export async function findWaitingLane(db: Db, after: string): Promise<string | undefined> {
  const row = await db('jobs')
    .whereRaw(`state = 'waiting'`)
    .where('lane', '>', after)
    .orderBy('lane')
    .first('lane')
  return row?.lane
}
