import { randomUUID } from 'node:crypto'
import type { Database } from '../db/open-database.ts'
import {
  claimJobs,
  finishJob,
  type Job,
  type JobKind,
  nextDueAt,
  postponeJob,
  releaseJobs,
} from '../db/queries/jobs.ts'
import { messageOf } from '../errors/annex-error.ts'

/** What became of a job. `settle` writes what belongs to it in the same transaction. */
export type JobOutcome = {
  next:
    | { state: 'done' }
    | { state: 'failed'; reason: string }
    | { state: 'due'; dueAtMs: number; reason: string }
  settle?: (transaction: Database['db']) => Promise<void>
}

/** Does one kind of job. What it throws is a defect: the job is tried again a minute later. */
export type JobHandler = (job: Job) => Promise<JobOutcome>

export type Worker = {
  /** Looks for due jobs now. Called when one was stored, so that nobody waits for the next look. */
  wake: () => void
  /** Claims nothing more, and lets what runs come to its end. */
  close: () => Promise<void>
}

/** Longer than any job runs: an attempt has 10 s, a dispatch 30 s and its `waitUntil` 65 s. */
const leaseMs = 120_000
const defectDelayMs = 60_000
/** Timers drift and clocks jump: no wait for a due time is longer than this. */
const longestWaitMs = 5_000

/**
 * Claims due jobs and does them, up to `concurrency` at once. Whatever the process was doing when it was
 * killed is due again at the next start: at once where one process owns the database, else when its lease ends.
 */
export async function createWorker(
  database: Database,
  given: {
    handlers: Record<JobKind, JobHandler>
    concurrency: number
    onDefect: (error: unknown, job?: Job) => void
  },
): Promise<Worker> {
  const { db, dialect } = database
  const shared = dialect === 'postgres'
  const running = new Set<Promise<void>>()
  let timer: NodeJS.Timeout | undefined
  let looking = false
  let lookAgain = false
  let closed = false
  await releaseJobs(db, shared ? { leaseUntilBefore: Date.now() } : {})
  wake()
  return {
    wake,
    async close() {
      closed = true
      clearTimeout(timer)
      while (running.size > 0 || looking) await Promise.race([...running, new Promise(setImmediate)])
    },
  }

  function wake(): void {
    if (closed) return
    lookAgain = true
    if (!looking) void look()
  }

  async function look(): Promise<void> {
    looking = true
    clearTimeout(timer)
    try {
      while (lookAgain && !closed) {
        lookAgain = false
        await claimAndStart()
      }
      await waitForNext()
    } catch (error) {
      given.onDefect(error)
      if (!closed) timer = setTimeout(wake, longestWaitMs)
    }
    looking = false
    if (lookAgain) wake()
  }

  async function claimAndStart(): Promise<void> {
    const limit = given.concurrency - running.size
    // Full: each job that ends wakes the worker.
    if (limit <= 0) return
    if (shared) await releaseJobs(db, { leaseUntilBefore: Date.now() })
    const leaseId = randomUUID()
    const jobs = await claimJobs(db, { nowMs: Date.now(), leaseId, leaseMs, limit, shared })
    for (const job of jobs) {
      const work = runJob(job, leaseId).finally(() => {
        running.delete(work)
        wake()
      })
      running.add(work)
    }
  }

  async function waitForNext(): Promise<void> {
    if (closed || lookAgain) return
    const dueAt = await nextDueAt(db)
    const wait = Math.min(Math.max(0, (dueAt ?? Number.POSITIVE_INFINITY) - Date.now()), longestWaitMs)
    if (!closed && running.size < given.concurrency) timer = setTimeout(wake, wait)
  }

  async function runJob(job: Job, leaseId: string): Promise<void> {
    try {
      await settleJob({ id: job.id, leaseId }, await given.handlers[job.kind](job))
    } catch (error) {
      given.onDefect(error, job)
      await postponeJob(db, { id: job.id, leaseId }, Date.now() + defectDelayMs, messageOf(error)).catch(
        given.onDefect,
      )
    }
  }

  /** What the job brought about and the job's own state change together, or neither does. */
  async function settleJob(
    claim: { id: string; leaseId: string },
    { next, settle }: JobOutcome,
  ): Promise<void> {
    await db.transaction(async (transaction) => {
      const isOurs =
        next.state === 'due'
          ? await postponeJob(transaction, claim, next.dueAtMs, next.reason)
          : await finishJob(transaction, claim, next.state, next.state === 'failed' ? next.reason : undefined)
      if (isOurs) await settle?.(transaction)
    })
  }
}
