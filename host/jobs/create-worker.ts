import { randomUUID } from 'node:crypto'
import type { Database } from '../db/open-database.ts'
import {
  claimJobs,
  findDueJobs,
  finishJob,
  type Job,
  type JobKind,
  nextDueAt,
  parkJob,
  postponeJob,
  releaseJobs,
} from '../db/queries/jobs.ts'
import { messageOf } from '../errors/annex-error.ts'
import { createLanes } from './lanes.ts'

/** What became of a job. `settle` writes what belongs to it in the same transaction. */
export type JobOutcome = {
  next:
    | { state: 'done' }
    | { state: 'failed'; reason: string }
    | { state: 'due'; dueAtMs: number; reason: string }
    /** Until its lane is resumed. This was no attempt. */
    | { state: 'waiting'; reason: string }
  settle?: (transaction: Database['db']) => Promise<void>
}

/** Does one kind of job. What it throws is a defect: the job is tried again a minute later. */
export type JobHandler = (job: Job) => Promise<JobOutcome>

export type Worker = {
  /** Looks for due jobs now. Called when one was stored, so that nobody waits for the next look. */
  wake: () => void
  /** Claims nothing more, and gives what runs ten seconds to come to its end. */
  close: () => Promise<void>
}

/** Longer than any job runs: an attempt has 10 s, a dispatch 30 s and its `waitUntil` 65 s. */
const leaseMs = 120_000
const defectDelayMs = 60_000
/** Timers drift and clocks jump: no wait for a due time is longer than this. */
const longestWaitMs = 5_000
const drainMs = 10_000

/**
 * Claims due jobs and does them, up to `concurrency` at once and up to `perLane` of one lane: a slow script or
 * receiver takes its own turns, and not those of the others. Whatever the process was doing when it was killed is due
 * again at the next start: at once where one process owns the database, else when its lease ends.
 */
export async function createWorker(
  database: Database,
  given: {
    handlers: Partial<Record<JobKind, JobHandler>>
    concurrency: number
    perLane: number
    onDefect: (error: unknown, job?: Job) => void
  },
): Promise<Worker> {
  const { db, dialect } = database
  const { handlers, concurrency, perLane, onDefect } = given
  const kinds = Object.keys(handlers) as JobKind[]
  const shared = dialect === 'postgres'
  const running = new Set<Promise<void>>()
  const lanes = createLanes(perLane)
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> | undefined
  let lookAgain = false
  let closed = false
  await releaseJobs(db, shared ? { kinds, leaseUntilBefore: Date.now() } : { kinds })
  wake()
  return {
    wake,
    async close() {
      closed = true
      clearTimeout(timer)
      await looking
      const { promise: patience, resolve } = Promise.withResolvers<void>()
      const deadline = setTimeout(resolve, drainMs)
      await Promise.race([Promise.allSettled([...running]), patience])
      clearTimeout(deadline)
    },
  }

  function wake(): void {
    if (closed) return
    lookAgain = true
    looking ??= look().finally(() => {
      looking = undefined
      if (lookAgain) wake()
    })
  }

  async function look(): Promise<void> {
    clearTimeout(timer)
    try {
      while (lookAgain && !closed) {
        lookAgain = false
        await claimAndStart()
      }
      await waitForNext()
    } catch (error) {
      onDefect(error)
      if (!closed) timer = setTimeout(wake, longestWaitMs)
    }
  }

  async function claimAndStart(): Promise<void> {
    const free = concurrency - running.size
    // Full: each job that ends wakes the worker.
    if (free <= 0) return
    const nowMs = Date.now()
    if (shared) await releaseJobs(db, { kinds, leaseUntilBefore: nowMs })
    const due = await findDueJobs(db, { kinds, fullLanes: lanes.full() }, nowMs, free * 4)
    const leaseId = randomUUID()
    const ids = lanes.choose(due, free).map(({ id }) => id)
    for (const job of await claimJobs(db, ids, { nowMs, leaseId, leaseMs })) startJob(job, leaseId)
  }

  function startJob(job: Job, leaseId: string): void {
    lanes.enter(job.lane)
    const work = runJob(job, leaseId).finally(() => {
      lanes.leave(job.lane)
      running.delete(work)
      wake()
    })
    running.add(work)
  }

  async function waitForNext(): Promise<void> {
    if (closed || lookAgain || running.size >= concurrency) return
    const dueAt = await nextDueAt(db, { kinds, fullLanes: lanes.full() })
    const wait = Math.min(Math.max(0, (dueAt ?? Number.POSITIVE_INFINITY) - Date.now()), longestWaitMs)
    if (!closed) timer = setTimeout(wake, wait)
  }

  async function runJob(job: Job, leaseId: string): Promise<void> {
    const claim = { id: job.id, leaseId }
    try {
      const handler = handlers[job.kind]
      if (handler !== undefined) await settleJob(claim, await handler(job))
    } catch (error) {
      onDefect(error, job)
      await postponeJob(db, claim, Date.now() + defectDelayMs, messageOf(error)).catch(onDefect)
    }
  }

  /** What the job brought about and the job's own state change together, or neither does. */
  async function settleJob(
    claim: { id: string; leaseId: string },
    { next, settle }: JobOutcome,
  ): Promise<void> {
    await db.transaction(async (transaction) => {
      if (await moveJob(transaction, claim, next)) await settle?.(transaction)
    })
  }
}

/** @returns false when the claim is no longer the caller's */
function moveJob(
  db: Database['db'],
  claim: { id: string; leaseId: string },
  next: JobOutcome['next'],
): Promise<boolean> {
  switch (next.state) {
    case 'due':
      return postponeJob(db, claim, next.dueAtMs, next.reason)
    case 'waiting':
      return parkJob(db, claim, next.reason)
    case 'failed':
      return finishJob(db, claim, 'failed', next.reason)
    case 'done':
      return finishJob(db, claim, 'done')
  }
}
