import { randomUUID } from 'node:crypto'
import type { Clock } from '../db/database-clock.ts'
import { type GroupCommit, runSteps, type Step } from '../db/group-commit.ts'
import type { Database, Db } from '../db/open-database.ts'
import { type Abandoned, endClaims, nextDueAt } from '../db/queries/claims.ts'
import { type Job, type JobKind, type Move, moveJobs } from '../db/queries/jobs.ts'
import { messageOf } from '../errors/annex-error.ts'
import { claimDue, type Round } from './claim-due.ts'
import { createLanes, type Health, type LaneRules } from './lanes.ts'
import { createTurns } from './turns.ts'

/** What became of a job. `stores` belongs to it: it is stored in the same transaction, or neither is. */
export type JobOutcome = { move: Move; health?: Health; stores?: readonly Stored[] }

export type Stored = { step: Step<unknown, unknown>; item: unknown }

/** Something to store with a job's outcome. */
export const stored = <Item>(step: Step<Item, unknown>, item: Item): Stored => ({ step, item }) as Stored

/** Does one kind of job. */
export type JobHandler = {
  /**
   * Reads what the jobs need, all of them together, in the transaction that claims them.
   *
   * @returns what to do for each. What that throws is a defect: the job is tried again a minute later.
   */
  begin: (transaction: Db, jobs: readonly Job[]) => Promise<(() => Promise<JobOutcome>)[]>
  /** Notes of claimed jobs, now due again, that nobody knows how far they came: their host is gone. */
  interrupt?: (transaction: Db, jobs: readonly Job[]) => Promise<void>
}

export type Worker = {
  /** Looks for due jobs now. Called when one was stored, so that nobody waits for the next look. */
  wake: () => void
  /** Takes over what hosts had claimed that are gone. */
  takeOver: (hostIds: readonly string[]) => Promise<void>
  /** Claims nothing more, gives what runs ten seconds to come to its end, and gives the rest back. */
  close: () => Promise<void>
}

export type WorkerOptions = {
  database: Database
  commits: GroupCommit
  clock: Clock
  random: () => number
  hostId: string
  handlers: Partial<Record<JobKind, JobHandler>>
  /** Jobs at once, those that have run for a while not counted. */
  concurrency: number
  lanes: LaneRules
  onDefect: (error: unknown, job?: Job) => void
}

/** Longer than any job runs: an attempt has 10 s, a dispatch 30 s and its `waitUntil` 65 s. */
const leaseMs = 120_000
const defectDelayMs = 60_000
/** Due times are the wall clock's: no wait for one is longer than this. */
const longestWaitMs = { sqlite: 5_000, postgres: 1_000 }
const drainMs = 10_000
/** Jobs in all for each that counts. */
const oldForEach = 16

/**
 * Claims due jobs and does them, and stores what came of each together with the job's own state. Whatever a host was
 * doing when it was killed is due again: at once at the next start where one process owns the database, else when the
 * other hosts miss it.
 */
export async function createWorker(options: WorkerOptions): Promise<Worker> {
  const { database, commits, clock, handlers, hostId, onDefect } = options
  const { db, dialect } = database
  const kinds = Object.keys(handlers) as JobKind[]
  const lanes = createLanes(options.lanes, options.random)
  const turns = createTurns(options.concurrency, options.concurrency * oldForEach)
  const round: Round = new Map()
  const running = new Set<Promise<void>>()
  let cancelTimer = () => {}
  let looking: Promise<void> | undefined
  let lookAgain = false
  let closed = false
  await release(dialect === 'sqlite' ? 'all' : { leaseUntilBefore: clock.now() })
  wake()
  return {
    wake,
    async takeOver(hostIds) {
      await release({ hostIds })
      wake()
    },
    async close() {
      closed = true
      cancelTimer()
      await looking
      const { promise: patience, resolve } = Promise.withResolvers<void>()
      const calledOff = clock.after(drainMs, resolve)
      await Promise.race([Promise.allSettled([...running]), patience])
      calledOff()
      await release({ hostIds: [hostId] })
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
    cancelTimer()
    try {
      while (lookAgain && !closed) {
        lookAgain = false
        if (turns.free(clock.now()) > 0) await claimAndStart()
      }
      if (!closed) await waitForNext()
    } catch (error) {
      onDefect(error)
      if (!closed) cancelTimer = clock.after(longestWaitMs[dialect], wake)
    }
  }

  async function claimAndStart(): Promise<void> {
    const begun = await commits.store(claim, undefined)
    for (const { job, run } of begun) start(job, run)
    // There may be more than were taken.
    if (begun.length > 0) lookAgain = true
    // The kinds take turns.
    kinds.push(...kinds.splice(0, 1))
  }

  type Begun = { job: Job; run: () => Promise<JobOutcome> }

  /** A step of the group commit, so that a claim costs no commit of its own. */
  async function claim(transaction: Db): Promise<[Begun[]]> {
    const nowMs = clock.now()
    const lease = { leaseId: randomUUID(), hostId, nowMs, leaseMs }
    let free = turns.free(nowMs)
    const begun: Begun[] = []
    for (const kind of kinds) {
      const jobs = await claimDue(transaction, kind, { round, lanes, free, lease })
      free -= jobs.length
      const runs = jobs.length > 0 ? await handlers[kind]?.begin(transaction, jobs) : undefined
      runs?.forEach((run, n) => {
        const job = jobs[n]
        if (job !== undefined) begun.push({ job, run })
      })
    }
    return [begun]
  }

  function start(job: Job, run: () => Promise<JobOutcome>): void {
    lanes.enter(job.lane)
    const turn = turns.take(clock.now())
    const work = doJob(job, run).then((health) => {
      lanes.leave(job.lane, health, clock.now())
      turns.give(turn)
      running.delete(work)
      wake()
    })
    running.add(work)
  }

  async function waitForNext(): Promise<void> {
    const nowMs = clock.now()
    const dueAt = await nextDueAt(db, kinds, nowMs)
    const times = [dueAt, lanes.nextProbeAt(nowMs), turns.free(nowMs) > 0 ? undefined : turns.nextFreeAt()]
    const next = Math.min(...times.filter((time) => time !== undefined), nowMs + longestWaitMs[dialect])
    if (!closed && !lookAgain) cancelTimer = clock.after(Math.max(0, next - nowMs), wake)
  }

  async function doJob(job: Job, run: () => Promise<JobOutcome>): Promise<Health | undefined> {
    try {
      const outcome = await run()
      await commits.store(settle, { job, outcome })
      return outcome.health
    } catch (error) {
      if (closed) return
      onDefect(error, job)
      const move = { state: 'due' as const, dueAtMs: clock.now() + defectDelayMs, reason: messageOf(error) }
      await commits.store(settle, { job, outcome: { move } }).catch(onDefect)
    }
  }

  /** What the job brought about and the job's own state change together, or neither does. */
  async function settle(
    transaction: Db,
    settled: readonly { job: Job; outcome: JobOutcome }[],
  ): Promise<boolean[]> {
    const moves = settled.map(({ job: { id, leaseId }, outcome: { move } }) => ({ id, leaseId, move }))
    const ours = await moveJobs(transaction, moves, clock.now())
    const still = settled.filter(({ job }) => ours.has(job.id))
    await runSteps(
      transaction,
      still.flatMap(({ outcome }) => outcome.stores ?? []),
    )
    return settled.map(({ job }) => ours.has(job.id))
  }

  async function release(which: Abandoned): Promise<void> {
    await db.transaction(async (transaction) => {
      const jobs = await endClaims(transaction, kinds, which)
      for (const kind of kinds) {
        const ofKind = jobs.filter((job) => job.kind === kind)
        if (ofKind.length > 0) await handlers[kind]?.interrupt?.(transaction, ofKind)
      }
    })
  }
}
