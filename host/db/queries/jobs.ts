import { announce } from '../announce.ts'
import { nowOf } from '../database-clock.ts'
import type { Db, JobKind } from '../db.ts'
import { createId } from '../ids.ts'
import { forEachChanged, forEachInserted, jsonRows, toJson } from '../json-rows.ts'
import { inUnlocked, lockNames, rawRows } from '../sql.ts'

/**
 * Work that must not be lost, claimed by a host. `subject` is JSON in the format of its kind. `lane` is an installation or a
 * receiver, `owner` the installation. `size` is the text in bytes that the job keeps in memory. `attempt` counts its runs
 * without interrupted ones; `interruptions` counts these. A result is stored only while the claim, `leaseId`, holds.
 */
export type Job = {
  id: string
  kind: JobKind
  subject: string
  lane: string
  owner: string
  size: number
  attempt: number
  interruptions: number
  dueAt: number
  /** True: the job runs alone, after the earlier jobs of its lane. SQLite stores booleans as numbers. */
  ordered: boolean | number
  leaseId: string
  claimedAt: number
}

/** The columns of a `Job`. */
export const jobColumns =
  'id, kind, subject, lane, owner, size, attempt, interruptions, due_at, ordered, lease_id, claimed_at'

/**
 * So many interrupted runs of a job do not count as attempts: a job must not lose its retries by crashes that it did not
 * cause. Further ones count, as the job itself may end its host or its sandbox process.
 */
export const mostInterruptions = 5

export type NewJob = {
  /** Default: a new id. */
  id?: string
  kind: JobKind
  subject: object
  lane: string
  /** The installation. Default: the lane. */
  owner?: string
  /** Text in bytes beside the subject. Default 0. */
  textSize?: number
  dueAt: number
  /** `waiting`: the job waits for a resume of its lane. Default `due`. */
  state?: 'due' | 'waiting'
  /** As in `Job`. */
  ordered?: boolean
}

const newColumns = {
  id: 'text',
  kind: 'text',
  subject: 'text',
  lane: 'text',
  owner: 'text',
  size: 'bigint',
  state: 'text',
  attempt: 'bigint',
  ordered: 'boolean',
  position: 'bigint',
  dueAt: 'bigint',
  createdAt: 'bigint',
} as const

export type JobRow = Omit<Job, 'leaseId' | 'claimedAt' | 'interruptions'> & {
  state: string
  position: number
  createdAt: number
}
const insertRows = forEachInserted<JobRow>({ table: 'jobs', columns: newColumns })

/** Stores jobs in the transaction of their cause. @returns the rows */
export async function insertJobs(db: Db, jobs: readonly NewJob[]): Promise<JobRow[]> {
  const inOrder = new Set(jobs.flatMap(({ lane, ordered }) => (ordered ? [lane] : [])))
  if (inOrder.size > 0) await comeAfter(db, [...inOrder])
  // By the clock of due times: `comesDue` compares the two columns.
  const createdAt = nowOf(db)
  const rows = jobs.map((job) => toRow(job, createdAt))
  await insertRows(db, rows)
  for (const kind of new Set(jobs.map(({ kind }) => kind))) announce(db, kind)
  return rows
}

function toRow(job: NewJob, createdAt: number): JobRow {
  const { kind, lane, dueAt } = job
  const subject = JSON.stringify(job.subject)
  return {
    id: job.id ?? createId('job'),
    kind,
    subject,
    lane,
    owner: job.owner ?? lane,
    size: Buffer.byteLength(subject) + (job.textSize ?? 0),
    state: job.state ?? 'due',
    attempt: 0,
    ordered: job.ordered ?? false,
    position: kind === 'task' && dueAt > createdAt ? positionAt(dueAt) : nextPosition(createdAt),
    dueAt,
    createdAt,
  }
}

/** Number and size of an installation's pending deliveries. */
export type Backlog = { jobs: number; bytes: number }

export async function readBacklog(db: Db, owner: string): Promise<Backlog> {
  const row = await db('jobs')
    .where({ owner })
    .whereRaw(`kind = 'delivery'`)
    .count({ jobs: '*' })
    .sum({ bytes: 'size' })
    .first()
  return { jobs: Number(row?.jobs ?? 0), bytes: Number(row?.bytes ?? 0) }
}

/** Counts the due and waiting jobs of a lane. */
export async function countPendingJobs(db: Db, kind: JobKind, lane: string): Promise<number> {
  let count = 0
  for (const state of ['due', 'waiting']) {
    const row = await db('jobs').where({ state, kind, lane }).count({ count: '*' }).first()
    count += Number(row?.count ?? 0)
  }
  return count
}

/**
 * The next state of a claimed job. `gone`: the job is done and deleted. `due`: it runs again; a run that was `interrupted` or
 * has `not begun` does not count as an attempt. `waiting`: it waits for a resume of its lane, and the run does not count. `failed`: the job
 * is kept for a person to read.
 */
export type Move =
  | { state: 'gone' }
  | { state: 'due'; dueAtMs: number; reason: string; run?: 'interrupted' | 'not begun' }
  | { state: 'waiting'; reason: string }
  | { state: 'failed'; reason: string }

export type MoveOf = { id: string; leaseId: string; move: Move }

const claimColumns = { id: 'text', leaseId: 'text' } as const
const moveColumns = {
  ...claimColumns,
  state: 'text',
  dueAt: 'bigint',
  lastError: 'text',
  finishedAt: 'bigint',
  attemptBack: 'bigint',
  interrupted: 'bigint',
} as const

/** A job that waits for a resume becomes due this much later at the earliest. */
const afterWaitMs = 1_000

/** @returns the ids of the jobs whose claim still held */
export async function moveJobs(db: Db, moves: readonly MoveOf[], nowMs: number): Promise<Set<string>> {
  const gone = moves.filter(({ move }) => move.state === 'gone')
  const kept = moves.filter(({ move }) => move.state !== 'gone')
  const areGone = await deleteJobs(db, gone)
  const areMoved = await updateJobs(
    db,
    kept.map((one) => toMoved(one, nowMs)),
  )
  const ours = [...gone.filter((_one, n) => areGone[n]), ...kept.filter((_one, n) => areMoved[n])]
  return new Set(ours.map(({ id }) => id))
}

const deleteJobs = forEachChanged<Pick<MoveOf, 'id' | 'leaseId'>>({
  ...{ table: 'jobs', columns: claimColumns, key: ['id'] },
  sql: (given) => `delete from jobs where (id, lease_id) in (select id, lease_id from ${given})`,
})

const updateJobs = forEachChanged<ReturnType<typeof toMoved>>({
  ...{ table: 'jobs', columns: moveColumns, key: ['id'] },
  sql: (given) => `update jobs set state = given.state, due_at = given.due_at, last_error = given.last_error,
      finished_at = given.finished_at, attempt = jobs.attempt - given.attempt_back,
      interruptions = jobs.interruptions + given.interrupted,
      lease_id = null, lease_until = null, host_id = null, claimed_at = null
    from ${given} where jobs.id = given.id and jobs.lease_id = given.lease_id`,
})

function toMoved({ id, leaseId, move }: MoveOf, nowMs: number) {
  const uncounted = move.state === 'due' ? move.run : undefined
  return {
    id,
    leaseId,
    state: move.state,
    dueAt: move.state === 'due' ? move.dueAtMs : nowMs + afterWaitMs,
    lastError: 'reason' in move ? move.reason : null,
    finishedAt: move.state === 'failed' ? nowMs : null,
    attemptBack: move.state === 'waiting' || uncounted !== undefined ? 1 : 0,
    interrupted: uncounted === 'interrupted' ? 1 : 0,
  }
}

/**
 * Changes jobs, except jobs that another transaction is changing.
 *
 * @param set the assignments, as SQL
 * @param some a query for ids
 * @returns the number of changed jobs
 */
export async function changeSomeJobs(
  transaction: Db,
  set: string,
  some: string,
  bindings: readonly unknown[],
): Promise<number> {
  const sql = `update jobs set ${set} where id ${inUnlocked(transaction, some)} returning id`
  return (await rawRows(transaction, sql, bindings)).length
}

let lastPosition = 0

/** The position of a job: the time when it was queued, in µs since 1970. For a scheduled task: its first due time. */
export const positionAt = (ms: number): number => ms * 1_000

/** The position of a new job, greater than all positions before it. */
export function nextPosition(nowMs: number): number {
  lastPosition = Math.max(lastPosition + 1, positionAt(nowMs))
  return lastPosition
}

/**
 * Makes the next positions greater than all positions in these lanes, also when another host's clock is ahead. On PostgreSQL
 * no other transaction stores in the lanes until this one ends. Otherwise a job with a lower position could be committed
 * later, and would run beside another job of its lane.
 */
export async function comeAfter(db: Db, lanes: readonly string[]): Promise<void> {
  const columns = { lane: 'text' } as const
  const given = toJson(
    lanes.map((lane) => ({ lane })),
    columns,
  )
  const rows = jsonRows(db, 'given', columns)
  await lockNames(db, JSON.stringify(lanes.map((lane) => `annex lane ${lane}`)))
  // A separate statement sees jobs that were committed while the lock was awaited.
  const last = 'select position from jobs where lane = given.lane and ordered order by position desc limit 1'
  const [row] = await rawRows<{ last: number | null }>(
    db,
    `select max(position) as last from (select (${last}) as position from ${rows}) as lasts`,
    [given],
  )
  lastPosition = Math.max(lastPosition, Number(row?.last ?? 0))
}
