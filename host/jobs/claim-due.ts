import type { Db } from '../db/open-database.ts'
import { claimJobs, findDueLanes, type Lease } from '../db/queries/claims.ts'
import type { Job, JobKind } from '../db/queries/jobs.ts'
import type { Lanes } from './lanes.ts'

/** Lanes that are looked at in one statement. */
const pageSize = 128

/** Where the next round of each kind begins: the lanes take turns. */
export type Round = Map<JobKind, string>

/**
 * Claims up to `free` due jobs, round robin over the lanes: it begins after the lane at which the last one ended, goes
 * round once, and takes no more of a lane than it has room for.
 */
export async function claimDue(
  transaction: Db,
  kind: JobKind,
  given: { round: Round; lanes: Lanes; free: number; lease: Lease },
): Promise<Job[]> {
  const { round, lanes, lease } = given
  const { nowMs } = lease
  const jobs: Job[] = []
  const began = round.get(kind) ?? ''
  let after: string | undefined = began
  let isSecondHalf = false
  while (after !== undefined) {
    const page = await findDueLanes(transaction, kind, { after, nowMs, limit: pageSize })
    const names = isSecondHalf ? page.lanes.filter((lane) => lane <= began) : page.lanes
    const { byRoom, last } = shareOut(names, given.free - jobs.length, (lane) => lanes.room(lane, nowMs))
    for (const [room, ofRoom] of byRoom) {
      jobs.push(...(await claimJobs(transaction, kind, { lanes: ofRoom, room, lease })))
    }
    if (last !== undefined) {
      round.set(kind, last)
      return jobs
    }
    if (page.reached !== undefined && !(isSecondHalf && page.reached >= began)) after = page.reached
    else if (isSecondHalf || began === '') after = undefined
    else {
      isSecondHalf = true
      after = ''
    }
  }
  round.set(kind, '')
  return jobs
}

/**
 * Rooms are rounded down to powers of two: lanes with the same room are served by one statement.
 *
 * @returns `last`: the lane that took the last of what was free
 */
function shareOut(
  names: readonly string[],
  free: number,
  roomOf: (lane: string) => number,
): { byRoom: Map<number, string[]>; last?: string } {
  const byRoom = new Map<number, string[]>()
  let left = free
  for (const lane of names) {
    const room = Math.min(roomOf(lane), left)
    if (room < 1) continue
    const rounded = 2 ** Math.floor(Math.log2(room))
    const found = byRoom.get(rounded)
    if (found === undefined) byRoom.set(rounded, [lane])
    else found.push(lane)
    left -= rounded
    if (left === 0) return { byRoom, last: lane }
  }
  return { byRoom }
}
