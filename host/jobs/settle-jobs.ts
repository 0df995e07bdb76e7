import { type GroupCommit, runSteps } from '../db/commits/group-commit.ts'
import type { Clock } from '../db/database-clock.ts'
import type { Db } from '../db/db.ts'
import { isOwnFault } from '../db/explain-storage-error.ts'
import { type Job, moveJobs } from '../db/queries/jobs.ts'
import { messageOf } from '../errors/annex-error.ts'
import type { JobOutcome } from './job-handler.ts'

type Settlement = { job: Job; outcome: JobOutcome }

export type Settlements = {
  /**
   * Stores what came of a job, and goes on until that succeeds: while the database is away, however long, it is kept here. There are
   * no more of them than turns.
   *
   * @param onCommitted called when others can read it, which may be before the disk has it
   */
  store: (settlement: Settlement, onCommitted: () => void) => Promise<void>
  /** What becomes of a job whose handler has a defect. */
  postponed: (job: Job, error: unknown) => JobOutcome
}

const defectDelayMs = 60_000
const storeAgainMs = 1_000
/** Of an outcome that is refused for its own sake. */
const mostRefusals = 30

/** @param given.isClosed gives up what cannot be stored: the job is still claimed then, and done again */
export function createSettlements(given: {
  commits: GroupCommit
  clock: Clock
  isClosed: () => boolean
  onDefect: (error: unknown, job?: Job) => void
}): Settlements {
  const { commits, clock, isClosed, onDefect } = given
  return { store, postponed }

  async function store(settlement: Settlement, onCommitted: () => void): Promise<void> {
    let toStore = settlement
    let refusals = 0
    for (let tries = 1; ; tries++) {
      try {
        if (await commits.store(settle, toStore, onCommitted)) toStore.outcome.onStored?.()
        return
      } catch (error) {
        if (isClosed()) return
        if (tries === 1) onDefect(error, settlement.job)
        if (isOwnFault(error)) {
          refusals += 1
          // Not the database, but what is stored: the job is done again rather than held for ever.
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

  /** What the job brought about and the job's own state change together, or neither does. */
  async function settle(transaction: Db, settled: readonly Settlement[]): Promise<boolean[]> {
    const moves = settled.map(({ job: { id, leaseId }, outcome: { move } }) => ({ id, leaseId, move }))
    const ours = await moveJobs(transaction, moves, clock.now())
    const still = settled.filter(({ job }) => ours.has(job.id))
    await runSteps(
      transaction,
      still.flatMap(({ outcome }) => outcome.stores ?? []),
    )
    return settled.map(({ job }) => ours.has(job.id))
  }
}
