import { randomUUID } from 'node:crypto'
import type { Clock } from '../db/database-clock.ts'
import type { Db, JobKind } from '../db/db.ts'
import type { GroupCommit } from '../db/group-commit.ts'
import type { Database } from '../db/open-database.ts'
import { leaseJobs, nextDueAt, readCandidates } from '../db/queries/claims.ts'
import type { Job } from '../db/queries/jobs.ts'
import { type Circuits, createFairness, type LaneRules, type Sharing } from './fairness.ts'
import type { JobHandler, JobOutcome, Run } from './job-handler.ts'
import { createLeases, defaultLeaseMs } from './leases.ts'
import { createSettlements } from './settle.ts'

/** Makes the worker claim due jobs. Default: of all kinds. */
export type Wake = (kind?: JobKind) => void

export type Worker = {
  wake: Wake
  circuits: Circuits
  /** Stops claiming, gives jobs in flight ten seconds, and releases the others. */
  close: () => Promise<void>
}

export type WorkerOptions = {
  database: Pick<Database, 'db' | 'dialect'>
  commits: GroupCommit
  clock: Clock
  random: () => number
  hostId: string
  /** How long a claim holds without a renewal, in ms. Default: 30 s. */
  leaseMs?: number
  handlers: Partial<Record<JobKind, JobHandler>>
  /** Limit of jobs in flight: claimed, with an outcome that is not stored. A large job counts as several. */
  concurrency: number
  /** Limit of jobs in flight whose run waits for its turn: the others stay in the table. Default: none. */
  waiting?: number
  lanes: LaneRules
  onDefect: (error: unknown, job?: Job) => void
}

/** The longest wait for a notification that may be lost. */
const pollMs = { sqlite: 5_000, postgres: 1_000 }
const drainMs = 10_000
const afterErrorMs = 1_000
/** The largest page of candidates, by the number of jobs that may begin. */
const candidatesFor = (free: number): number => Math.max(64, 2 * free)

type Claimed = { job: Job; run: Run }

/**
 * Claims due jobs and runs them: candidates → fairness → lease → run → settle. The table is the only list of due work. A
 * job whose host is killed is due again, at the next start or when its lease lapses.
 */
export async function createWorker(options: WorkerOptions): Promise<Worker> {
  const { database, commits, clock, handlers, hostId, leaseMs = defaultLeaseMs, onDefect } = options
  const mostWaiting = options.waiting ?? Number.POSITIVE_INFINITY
  const kinds = Object.keys(handlers) as JobKind[]
  const fairness = createFairness(options.concurrency, options.lanes, options.random)
  const settlements = createSettlements({ commits, clock, onDefect, isClosed: () => isClosed })
  /** Runs with the leases of their claims. */
  const running = new Map<Promise<void>, string>()
  const leases = createLeases({
    database,
    clock,
    hostId,
    leaseMs,
    inFlight: () => [...new Set(running.values())],
    handlers,
    onDue: () => wake(),
    onDefect,
  })
  /** Lanes of a kind are read in pages. `after`: where the next page begins. `found`: a page of this pass had candidates. */
  const passes = new Map<JobKind, { after: string; found: boolean }>()
  /** Jobs that a claim has chosen and has not committed. */
  let chosen: Sharing[] = []
  /** Runs that wait for their turn. */
  let waiting = 0
  let claiming: Promise<void> | undefined
  let isWoken = false
  let isClosed = false
  let cancelTimer = () => {}
  await leases.begin()
  wake()
  return { wake, circuits: fairness, close }

  function wake(kind?: JobKind): void {
    if (kind !== undefined && handlers[kind] === undefined) return
    // The new job may be in a lane that this pass has read already.
    for (const pass of passes.values()) pass.found = true
    isWoken = true
    if (isClosed) return
    claiming ??= claimWhileDue().finally(() => {
      claiming = undefined
      if (isWoken) wake()
    })
  }

  async function claimWhileDue(): Promise<void> {
    cancelTimer()
    try {
      while (isWoken && !isClosed && free() > 0) {
        isWoken = false
        const { claimed, isMore, nextAt } = await commits.store(claim, undefined)
        chosen = []
        for (const one of claimed) start(one)
        isWoken ||= isMore
        if (!isWoken) waitUntil(nextAt)
      }
      // The next job that begins or ends wakes the worker.
      if (free() <= 0) isWoken = false
    } catch (error) {
      giveUpChosen()
      onDefect(error)
      isWoken = false
      waitUntil(clock.now() + afterErrorMs)
    }
  }

  type Claim = { claimed: Claimed[]; isMore: boolean; nextAt: number }

  /** A step of a group commit. A failed group runs it again. */
  async function claim(transaction: Db): Promise<[Claim]> {
    giveUpChosen()
    const nowMs = clock.now()
    const times = [nowMs + pollMs[database.dialect], fairness.nextProbeAt(nowMs)]
    const claimed: Claimed[] = []
    let isMore = false
    // The kinds take turns.
    kinds.push(...kinds.splice(0, 1))
    for (const kind of kinds) {
      const ofKind = await claimKind(transaction, kind, nowMs)
      claimed.push(...ofKind.claimed)
      isMore ||= ofKind.isMore
    }
    // Only an idle worker needs the next due time.
    if (!isMore) for (const kind of kinds) times.push(await nextDueAt(transaction, kind, nowMs))
    const nextAt = Math.min(...times.filter((time) => time !== undefined))
    return [{ claimed, isMore, nextAt }]
  }

  async function claimKind(
    transaction: Db,
    kind: JobKind,
    nowMs: number,
  ): Promise<{ claimed: Claimed[]; isMore: boolean }> {
    const handler = handlers[kind]
    const most = free()
    if (handler === undefined || isClosed || most <= 0) return { claimed: [], isMore: false }
    const pass = passes.get(kind) ?? { after: '', found: false }
    const { candidates, next } = await readCandidates(transaction, kind, {
      after: pass.after,
      without: fairness.fullLanes(nowMs),
      retriesOnly: fairness.openLanes(nowMs),
      withoutOwners: fairness.fullOwners(),
      perLane: options.lanes.most,
      limit: candidatesFor(most),
      nowMs,
    })
    const found = pass.found || candidates.length > 0
    passes.set(kind, next === undefined ? { after: '', found: false } : { after: next, found })
    // Lanes of earlier pages may still have due jobs, so the search ends only after a pass without candidates.
    const isMore = next !== undefined || (pass.after !== '' && found)
    const wanted = fairness.choose(candidates, nowMs, most)
    chosen.push(...wanted)
    const ids = wanted.map(({ id }) => id)
    const jobs = await leaseJobs(transaction, ids, { leaseId: randomUUID(), hostId, nowMs, leaseMs })
    const runs = jobs.length === 0 ? [] : await handler.begin(transaction, jobs)
    const claimed = jobs.flatMap((job, n) => {
      const run = runs[n]
      return run === undefined ? [] : [{ job, run }]
    })
    // Another host has claimed the others.
    const ours = new Set(jobs.map(({ id }) => id))
    for (const job of wanted.filter(({ id }) => !ours.has(id))) giveUp(job)
    return { claimed, isMore: isMore || wanted.length > 0 }
  }

  /** The number of jobs that may begin now. Waiting runs are replaced in batches: a claim costs a transaction. */
  function free(): number {
    const room = mostWaiting - waiting - chosen.length
    return room < mostWaiting / 2 ? 0 : Math.min(fairness.free(), room)
  }

  function giveUp(job: Sharing): void {
    chosen = chosen.filter((one) => one !== job)
    endChosen(job)
  }

  function giveUpChosen(): void {
    for (const job of chosen) endChosen(job)
    chosen = []
  }

  function endChosen(job: Sharing): void {
    fairness.end(job, undefined, clock.now())
    fairness.release(job)
  }

  function waitUntil(atMs: number): void {
    if (!isClosed) cancelTimer = clock.after(Math.max(0, atMs - clock.now()), () => wake())
  }

  function start(claimed: Claimed): void {
    const work = doJob(claimed).finally(() => running.delete(work))
    running.set(work, claimed.job.leaseId)
  }

  async function doJob({ job, run }: Claimed): Promise<void> {
    let outcome: JobOutcome
    const endWait = beginWait()
    try {
      outcome = await run(endWait)
    } catch (error) {
      outcome = settlements.postponed(job, error)
    }
    endWait()
    fairness.end(job, outcome.health, clock.now())
    const settled = settlements.store({ job, outcome })
    // The next job of the lane is claimed by the commit that settles this one.
    wake()
    await settled
    const wasFull = fairness.free() <= 0
    fairness.release(job)
    // The next job of an ordered lane may begin now. A retry has a due time.
    if (wasFull || job.ordered || outcome.move.state !== 'gone') wake(job.kind)
  }

  /** @returns ends the wait of a run; further calls do nothing */
  function beginWait(): () => void {
    let isWaiting = true
    waiting += 1
    return () => {
      if (!isWaiting) return
      isWaiting = false
      waiting -= 1
      if (waiting === Math.floor(mostWaiting / 2)) wake()
    }
  }

  async function close(): Promise<void> {
    isClosed = true
    cancelTimer()
    await claiming
    const { promise: patience, resolve } = Promise.withResolvers<void>()
    const callOff = clock.after(drainMs, resolve)
    await Promise.race([Promise.allSettled([...running.keys()]), patience])
    callOff()
    await leases.close()
  }
}
