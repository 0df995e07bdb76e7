import type { Clock } from '../db/database-clock.ts'
import type { Db } from '../db/db.ts'
import { isOwnFault } from '../db/errors.ts'
import { type GroupCommit, runSteps } from '../db/group-commit.ts'
import { type Job, moveJobs } from '../db/queries/jobs.ts'
import { messageOf } from '../errors.ts'
import type { JobOutcome } from './job-handler.ts'

type Settlement = { job: Job; outcome: JobOutcome }

export type Settlements = {
  /** Stores the outcome of a job. Retries until the database is back. */
  store: (settlement: Settlement) => Promise<void>
  /** The outcome of a job whose handler has a defect. */
  postponed: (job: Job, error: unknown) => JobOutcome
}

const defectDelayMs = 60_000
const storeAgainMs = 1_000
/** After so many refusals by the database an outcome is dropped, and the job runs again. */
const mostRefusals = 30

/** @param given.isClosed true: unstored outcomes are dropped. Their jobs are still claimed, and run again. */
export function createSettlements(given: {
  commits: GroupCommit
  clock: Clock
  isClosed: () => boolean
  onDefect: (error: unknown, job?: Job) => void
}): Settlements {
  const { commits, clock, isClosed, onDefect } = given
  return { store, postponed }

  async function store(settlement: Settlement): Promise<void> {
    let toStore = settlement
    let refusals = 0
    for (let tries = 1; ; tries++) {
      try {
        if (await commits.store(settle, toStore)) toStore.outcome.onStored?.()
        return
      } catch (error) {
        if (isClosed()) return
        if (tries === 1) onDefect(error, settlement.job)
        if (isOwnFault(error)) {
          refusals += 1
          if (refusals === mostRefusals)
            toStore = { job: settlement.job, outcome: postponed(settlement.job, error) }
        }
        await new Promise<void>((resolve) => clock.after(storeAgainMs, resolve))
      }
    }
  }

  function postponed(job: Job, error: unknown): JobOutcome {
    onDefect(error, job)
    return { move: { state: 'due', dueAtMs: clock.now() + defectDelayMs, reason: messageOf(error) } }
  }

  /**
   * Moves jobs, and writes their stores, in one transaction.
   *
   * @returns for each job whether its claim still held. If another host has claimed the job, its outcome is dropped.
   */
  async function settle(transaction: Db, settled: readonly Settlement[]): Promise<boolean[]> {
    const moves = settled.map(({ job: { id, leaseId }, outcome: { move } }) => ({ id, leaseId, move }))
    const ours = await moveJobs(transaction, moves, clock.now())
    const stores = settled.flatMap(({ job, outcome }) => (ours.has(job.id) ? (outcome.stores ?? []) : []))
    await runSteps(transaction, stores)
    return settled.map(({ job }) => ours.has(job.id))
  }
}
