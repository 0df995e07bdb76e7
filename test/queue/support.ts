import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../../host/db/database-clock.ts'
import type { Db, JobKind } from '../../host/db/db.ts'
import { createGroupCommit, type GroupCommit } from '../../host/db/group-commit.ts'
import { type Database, openDatabase } from '../../host/db/open-database.ts'
import { leaseJobs, readCandidates } from '../../host/db/queries/claims.ts'
import { insertJobs, type Job, type JobRow, type NewJob } from '../../host/db/queries/jobs.ts'
import type { LaneRules } from '../../host/queue/fairness.ts'
import { handleEach, type JobHandler, type JobOutcome } from '../../host/queue/job-handler.ts'
import { createWorker, type Worker } from '../../host/queue/worker.ts'
import { until } from '../support/annex.ts'
import { createTestDatabase } from '../support/test-database.ts'

export const gone: JobOutcome = { move: { state: 'gone' } }

export type Work = {
  hostId?: string
  concurrency?: number
  waiting?: number
  lanes?: LaneRules
  clock?: (clock: Clock) => Clock
  commits?: GroupCommit
  interrupt?: JobHandler['interrupt']
  onDefect?: (error: unknown) => void
}

/** A queue of tasks on a database of its own, and workers on it. */
export type Queue = {
  db: Database['db']
  clock: Clock
  insert: (lane: string, count: number, given?: Partial<NewJob>) => Promise<JobRow[]>
  work: (run: (job: Job, onBegin: () => void) => Promise<JobOutcome>, given?: Work) => Promise<Worker>
  /** Settles when no job is left. */
  drained: () => Promise<unknown>
  jobs: () => Promise<(Job & { state: string; lastError: string | null })[]>
  close: () => Promise<void>
}

/** Numbers of the jobs of a lane, in the order in which they were inserted. */
export const numberOf = ({ subject }: Job): number => JSON.parse(subject).n

export async function openQueue(): Promise<Queue> {
  const folder = mkdtempSync(join(tmpdir(), 'annex-queue-'))
  const made = await createTestDatabase(folder)
  const database = await openDatabase(made.url, folder)
  const { db, clock } = database
  const workers: Worker[] = []
  const jobs: Queue['jobs'] = () => db('jobs').select().orderBy('position')
  return {
    db,
    clock,
    insert(lane, count, given = {}) {
      const one = (n: number): NewJob => ({
        kind: 'task',
        subject: { n },
        lane,
        dueAt: clock.now(),
        ...given,
      })
      return insertJobs(
        db,
        Array.from({ length: count }, (_, n) => one(n)),
      )
    },
    async work(run, given = {}) {
      const { lanes = { most: 8, first: 8 }, onDefect = () => {} } = given
      const handler: JobHandler = { ...handleEach(run) }
      if (given.interrupt !== undefined) handler.interrupt = given.interrupt
      const worker = await createWorker({
        database,
        commits: given.commits ?? createGroupCommit(db),
        clock: given.clock?.(clock) ?? clock,
        random: Math.random,
        hostId: given.hostId ?? 'host_1',
        handlers: { task: handler },
        concurrency: given.concurrency ?? 32,
        ...(given.waiting !== undefined && { waiting: given.waiting }),
        lanes,
        onDefect,
      })
      workers.push(worker)
      return worker
    },
    drained: () => until(jobs, (rows) => rows.length === 0),
    jobs,
    async close() {
      await Promise.all(workers.map((worker) => worker.close()))
      await database.close()
      await made.drop()
      rmSync(folder, { recursive: true })
    },
  }
}

/** Claims jobs that are due within a minute, as a worker of `host_1`. */
export async function claimAll(db: Db, kind: JobKind): Promise<Job[]> {
  const nowMs = Date.now() + 60_000
  const { candidates } = await readCandidates(db, kind, {
    after: '',
    without: [],
    retriesOnly: [],
    withoutOwners: [],
    perLane: 100,
    limit: 1_000,
    nowMs,
  })
  const lease = { leaseId: 'lease_1', hostId: 'host_1', nowMs, leaseMs: 30_000 }
  return leaseJobs(
    db,
    candidates.map(({ id }) => id),
    lease,
  )
}
