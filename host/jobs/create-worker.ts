import { randomUUID } from 'node:crypto'
import type { Commits } from '../db/commits/group-commit.ts'
import type { Clock } from '../db/database-clock.ts'
import type { Db } from '../db/db.ts'
import type { Database } from '../db/open-database.ts'
import type { Held, Job, JobKind } from '../db/queries/jobs.ts'
import { createAbandonedClaims } from './abandoned-claims.ts'
import { createDueJobs } from './claim-due.ts'
import type { Begun } from './claim-held.ts'
import type { JobHandler, JobOutcome } from './job-handler.ts'
import { createSettlements } from './settle-jobs.ts'
import { type Circuits, createLanes, type Health, type LaneRules } from './slots/lanes.ts'
import { createOwners } from './slots/owners.ts'
import { type Slot, takeSlot } from './slots/take-slot.ts'
import { createTurns } from './slots/turns.ts'

/**
 * Looks for due jobs now: of any kind or of one, in any lane or in one. Whoever stores a job calls it, and nobody waits.
 *
 * @param held the job, where it is known: it need not be read then
 */
export type Wake = (kind?: JobKind, lane?: string, held?: Held) => void

export type Worker = {
  wake: Wake
  /** Settles when what it looks for at this moment has begun. */
  looked: () => Promise<void>
  /** Takes over what hosts had claimed that are gone. */
  takeOver: (hostIds: readonly string[]) => Promise<void>
  /** Of its lanes. */
  circuits: Circuits
  /** Claims nothing more, gives what runs ten seconds to come to its end, and gives the rest back. */
  close: () => Promise<void>
}

export type WorkerOptions = Commits & {
  database: Database
  clock: Clock
  random: () => number
  hostId: string
  handlers: Partial<Record<JobKind, JobHandler>>
  /** Jobs at once, those that have run for a while not counted. */
  concurrency: number
  /** How many more are claimed, to be at hand for whoever does them when they are done with others. Default none. */
  ahead?: number
  lanes: LaneRules
  onDefect: (error: unknown, job?: Job) => void
}

/** Longer than any job runs: an attempt has 10 s, a dispatch 30 s and its `waitUntil` 65 s. */
const leaseMs = 120_000
/** Due times are the wall clock's: no wait for one is longer than this. */
const longestWaitMs = { sqlite: 5_000, postgres: 1_000 }
const drainMs = 10_000
/** Hosts that look at the same moment find the same jobs: those that come away with none look again, not together. */
const contestedMs = 20
/** Jobs in all for each that counts, in units. */
const oldForEach = 16

/** What is laid aside is due where somebody has resumed meanwhile what it was to wait for. */
const mayBeDue = ({ move }: JobOutcome): boolean => move.state === 'due' || move.state === 'waiting'

/**
 * Claims due jobs and does them, and stores what came of each together with the job's own state. Whatever a host was
 * doing when it was killed is due again: at once at the next start where one process owns the database, else when the
 * other hosts miss it.
 */
export async function createWorker(options: WorkerOptions): Promise<Worker> {
  const { database, commits, claims, clock, handlers, hostId, onDefect } = options
  const { dialect } = database
  const kinds = Object.keys(handlers) as JobKind[]
  const { concurrency, ahead = 0 } = options
  const mostInAll = concurrency * oldForEach
  const lanes = createLanes(options.lanes, options.random)
  const owners = createOwners(mostInAll)
  const turns = createTurns(concurrency, mostInAll, ahead)
  const due = kinds.flatMap((kind) => {
    const handler = handlers[kind]
    return handler === undefined ? [] : [{ kind, jobs: createDueJobs(kind, { lanes, owners }, handler) }]
  })
  const free = () => turns.free(clock.now())
  const settlements = createSettlements({ commits, clock, onDefect, isClosed: () => closed })
  /** With the leases of their claims. */
  const running = new Map<Promise<void>, string>()
  const abandoned = createAbandonedClaims({
    ...{ database, clock, hostId, handlers, onDefect },
    leases: () => [...new Set([...running.values(), ...(lostLease === undefined ? [] : [lostLease])])],
    onEnded: () => wake(),
  })
  let cancelTimer = () => {}
  let looking: Promise<void> | undefined
  let lookAgain = false
  /** When all is looked for, whoever has asked for what until then: it may be busy for ever, and a notification lost. */
  let pollAt = 0
  let closed = false
  /** Of a claim that has no answer yet, or whose commit failed, or whose answer did not come back. */
  let lostLease: string | undefined
  /** Of the claim that was tried last. */
  let triedLease: string | undefined
  await abandoned.begin()
  wake()
  return {
    wake,
    looked: async () => looking,
    circuits: lanes,
    async takeOver(hostIds) {
      await abandoned.end({ hostIds })
      wake()
    },
    async close() {
      closed = true
      cancelTimer()
      await Promise.all([looking, abandoned.close()])
      const { promise: patience, resolve } = Promise.withResolvers<void>()
      const calledOff = clock.after(drainMs, resolve)
      await Promise.race([Promise.allSettled([...running.keys()]), patience])
      calledOff()
      await abandoned.end({ hostIds: [hostId] })
    },
  }

  function wake(kind?: JobKind, lane?: string, held?: Held): void {
    const woken = due.filter((one) => kind === undefined || one.kind === kind)
    for (const { jobs } of woken) jobs.lookAgain(lane, held)
    if (woken.length > 0) look()
  }

  function look(): void {
    if (closed) return
    lookAgain = true
    looking ??= claimAndStart().finally(() => {
      looking = undefined
      if (lookAgain) look()
    })
  }

  async function claimAndStart(): Promise<void> {
    cancelTimer()
    try {
      while (lookAgain && !closed) {
        lookAgain = false
        if (free() === 0) break
        const claimed = await claimDue()
        for (const one of claimed.begun) start(one)
        lookAgain ||= claimed.isCut
      }
      if (closed) return
      // Full: the next job that ends, or has run for a while, leaves its turn to another.
      if (free() === 0) waitForTurn()
      else waitForDue()
    } catch (error) {
      onDefect(error)
      if (!closed) cancelTimer = clock.after(longestWaitMs[dialect], () => wake())
    }
  }

  /** `isCut`: more may be due. */
  type Claim = { begun: Begun[]; isCut: boolean }

  async function claimDue(): Promise<Claim> {
    if (lostLease !== undefined) {
      await abandoned.end({ leaseIds: [lostLease] })
      for (const { jobs } of due) jobs.startOver()
    }
    lostLease = randomUUID()
    const claimed = await claims.note(claim, lostLease)
    lostLease = undefined
    return claimed
  }

  /** A step of a group commit on SQLite, where it costs no commit of its own; by itself on PostgreSQL: see `Commits`. */
  async function claim(transaction: Db, [leaseId = '']: readonly string[]): Promise<[Claim]> {
    if (clock.now() >= pollAt) {
      pollAt = clock.now() + longestWaitMs[dialect]
      for (const { jobs } of due) jobs.poll()
    }
    // For the second time: the group that it was in has failed.
    if (leaseId === triedLease) for (const { jobs } of due) jobs.startOver()
    triedLease = leaseId
    // While one half is stored, the other one runs.
    const atOnce = concurrency + ahead
    let left = Math.min(free(), Math.ceil(atOnce / 2))
    const begun: Begun[] = []
    // The kinds take turns.
    due.push(...due.splice(0, 1))
    for (const { jobs } of due) {
      if (left === 0) break
      const lease = { leaseId, hostId, nowMs: clock.now(), leaseMs }
      const ofKind = await jobs.claim(transaction, { limit: left, atOnce, lease })
      left -= ofKind.length
      begun.push(...ofKind)
    }
    return [{ begun, isCut: left === 0 || due.some(({ jobs }) => jobs.isMidRound()) }]
  }

  function start(begun: Begun): void {
    const { lane, leaseId } = begun.job
    const { owner, units } = begun
    const slot = takeSlot({ lanes, owners, turns }, { lane, owner, units }, clock)
    const work = doJob(begun, slot).finally(() => running.delete(work))
    running.set(work, leaseId)
  }

  /** Another one may run when it is done, and not when that is stored: it is claimed by the same commit. */
  function leave({ kind, lane, ordered }: Job, slot: Slot, health: Health | undefined): void {
    if (slot.leave(health)) for (const { jobs } of due) jobs.hasRoom(lane)
    if (ordered) wake(kind, lane)
    else look()
  }

  function give(slot: Slot): void {
    const wasFull = free() === 0
    slot.give()
    if (wasFull) look()
  }

  function waitForTurn(): void {
    const nowMs = clock.now()
    const at = turns.nextFreeAt() ?? nowMs + longestWaitMs[dialect]
    if (!closed && !lookAgain) cancelTimer = clock.after(Math.max(0, at - nowMs), () => wake())
  }

  function waitForDue(): void {
    const nowMs = clock.now()
    const isContested = due.some(({ jobs }) => jobs.isContested())
    const times = [
      ...due.map(({ jobs }) => jobs.nextAt()),
      lanes.nextProbeAt(nowMs),
      isContested ? nowMs + contestedMs * (1 + options.random()) : undefined,
    ]
    const next = Math.min(...times.filter((time) => time !== undefined), pollAt)
    if (!closed && !lookAgain) cancelTimer = clock.after(Math.max(0, next - nowMs), () => wake())
  }

  async function doJob({ job, run }: Begun, slot: Slot): Promise<void> {
    let outcome: JobOutcome
    try {
      outcome = await run()
    } catch (error) {
      outcome = settlements.postponed(job, error)
    }
    const settled = settlements.store({ job, outcome }, () => {
      give(slot)
      // Whoever looked in the meantime saw neither when it is due again nor that the one after it may go on.
      if (job.ordered || mayBeDue(outcome)) wake(job.kind, job.lane)
    })
    leave(job, slot, outcome.health)
    await settled
  }
}
