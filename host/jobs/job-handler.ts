import type { Step } from '../db/commits/group-commit.ts'
import type { Db } from '../db/db.ts'
import type { DueJob, Job, Move } from '../db/queries/jobs.ts'
import type { Health } from './slots/lanes.ts'

/** What became of a job. `stores` belongs to it: it is stored in the same transaction, or neither is. */
export type JobOutcome = {
  move: Move
  health?: Health
  stores?: readonly Stored[]
  /** Called when all of it is stored. */
  onStored?: () => void
}

export type Stored = { step: Step<unknown, unknown>; item: unknown }

/** Something to store with a job's outcome. */
export const stored = <Item>(step: Step<Item, unknown>, item: Item): Stored => ({ step, item }) as Stored

/** Does one kind of job. */
export type JobHandler<Loaded = unknown> = {
  /** Reads what jobs need that does not change while they wait. They are many, and nobody's yet. */
  load?: (db: Db, jobs: readonly DueJob[]) => Promise<Loaded[]>
  /** How much text it has to do with beside the job's subject, in characters. Default none. */
  lengthOf?(loaded: Loaded): number
  /** Whose lane it is, where one may have many: none of them has all turns. Default the lane itself. */
  ownerOf?(loaded: Loaded): string | undefined
  /**
   * Reads what else the jobs need, all of them together, when they are claimed.
   *
   * @returns what to do for each. What that throws is a defect: the job is tried again a minute later.
   */
  begin(db: Db, claimed: readonly { job: Job; loaded: Loaded }[]): Promise<(() => Promise<JobOutcome>)[]>
  /** Notes of claimed jobs, now due again, that nobody knows how far they came: their host is gone. */
  interrupt?: (transaction: Db, jobs: readonly Job[]) => Promise<void>
}

/** A handler whose jobs need nothing but what stands in them. */
export const handleEach = (run: (job: Job) => Promise<JobOutcome>): JobHandler => ({
  begin: async (_db, claimed) =>
    claimed.map(
      ({ job }) =>
        () =>
          run(job),
    ),
})
