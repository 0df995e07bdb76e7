import type { Db } from './db.ts'
import { inSteps, stepSize } from './in-steps.ts'
import { findWaitingLane, releaseSomeWaiting } from './queries/operating/release.ts'

/**
 * Makes what waits for a lane due, in steps, as long as nothing holds it.
 *
 * @param wake tells those who do it
 * @param ending once it is aborted the rest is left to `releaseForgotten`
 * @returns how many jobs
 */
export function releaseWaiting(
  db: Db,
  lane: string,
  wake: () => void,
  ending?: AbortSignal,
): Promise<number> {
  const step = async () => {
    const changed = await db.transaction((transaction) => releaseSomeWaiting(transaction, lane, stepSize))
    if (changed > 0) wake()
    return { changed, more: changed === stepSize }
  }
  return inSteps(step, ending)
}

/**
 * Releases what waits for lanes that nothing holds: a resume may have been cut off by the end of its host.
 *
 * @param ending once it is aborted the rest is left for the next time
 */
export async function releaseForgotten(db: Db, wake: () => void, ending?: AbortSignal): Promise<void> {
  let lane = await findWaitingLane(db, '')
  while (lane !== undefined && !ending?.aborted) {
    await releaseWaiting(db, lane, wake, ending)
    lane = await findWaitingLane(db, lane)
  }
}
