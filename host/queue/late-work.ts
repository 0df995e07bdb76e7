import type { Db } from '../db/db.ts'
import { type OldestDue, readOldestDue } from '../db/queries/backlog.ts'

/** Work that has been due for so long is late: scripts get more of it than this machine runs. */
const lateFromMs = 60_000

export type LateWork = OldestDue

/** Events and tasks that are late, by their kind. A late delivery may be its receiver's doing, so deliveries are left out. */
export async function findLateWork(db: Db): Promise<LateWork[]> {
  return (await readOldestDue(db)).filter(({ dueForMs }) => dueForMs >= lateFromMs)
}
