import type { Db } from '../db/db.ts'
import { claimJobs, type Lease, readLongSubjects } from '../db/queries/claims.ts'
import type { Held, Job } from '../db/queries/jobs.ts'
import type { JobHandler, JobOutcome } from './job-handler.ts'
import { unitsOf } from './slots/units.ts'

/** A claimed job, and what to do for it. `units`: what it counts for, see `unitsOf`. */
export type Begun = { job: Job; owner: string; units: number; run: () => Promise<JobOutcome> }

/** Claims those of some jobs that nobody else has claimed since, and reads what else they need: what is long of them, too. */
export async function claimHeld(
  db: Db,
  held: readonly Held[],
  lease: Lease,
  { ownerOf, begin }: Pick<JobHandler, 'begin'> & { ownerOf: (held: Held) => string },
): Promise<Begun[]> {
  const before = held.map(({ job }) => job)
  const { leaseId, nowMs } = lease
  // What was handed over while this claim read came due after it had begun.
  const claimedAt = Math.max(nowMs, ...before.map(({ dueAt }) => dueAt))
  const ids = await claimJobs(db, before, { ...lease, nowMs: claimedAt })
  const claimed = held.filter(({ job }) => ids.has(job.id))
  if (claimed.length === 0) return []
  const long = await readLongSubjects(
    db,
    claimed.map(({ job }) => job),
  )
  const jobs = claimed.map(({ job, loaded }) => {
    const subject = job.subject ?? long.get(job.id) ?? ''
    return { job: { ...job, subject, attempt: job.attempt + 1, leaseId, claimedAt }, loaded }
  })
  const runs = await begin(db, jobs)
  return claimed.flatMap((one, n) => {
    const [job, run] = [jobs[n]?.job, runs[n]]
    if (job === undefined || run === undefined) return []
    return [{ job, owner: ownerOf(one), units: unitsOf(one.length), run }]
  })
}
