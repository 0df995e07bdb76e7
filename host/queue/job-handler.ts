import type { Db } from '../db/db.ts'
import type { Step } from '../db/group-commit.ts'
import type { Job, Move } from '../db/queries/jobs.ts'
import type { Health } from './fairness.ts'

/** The outcome of a job. `stores` are written in the transaction that moves the job. */
export type JobOutcome = {
  move: Move
  health?: Health
  stores?: readonly Stored[]
  /** Called when the whole outcome is stored. */
  onStored?: () => void
}

export type Stored = { step: Step<unknown, unknown>; item: unknown }

/** Something to store with a job's outcome. */
export const stored = <Item>(step: Step<Item, unknown>, item: Item): Stored => ({ step, item }) as Stored

/** Runs a job. `onBegin`: its turn has come, where the run waits for one. */
export type Run = (onBegin: () => void) => Promise<JobOutcome>

/** Runs jobs of one kind. */
export type JobHandler = {
  /**
   * Reads the records of all claimed jobs together, in the transaction of the claim.
   *
   * @returns a run for each job. A run that throws is a defect: the job is tried again a minute later.
   */
  begin(db: Db, jobs: readonly Job[]): Promise<Run[]>
  /** Records the interrupted runs of jobs that are due again because their host has ended. */
  interrupt?: (transaction: Db, jobs: readonly Job[]) => Promise<void>
}

/** A handler for jobs that need no records. */
export const handleEach = (run: (job: Job, onBegin: () => void) => Promise<JobOutcome>): JobHandler => ({
  begin: async (_db, jobs) => jobs.map((job) => (onBegin) => run(job, onBegin)),
})
