import { nowOf } from '../database-clock.ts'
import type { Db } from '../db.ts'
import { createId } from '../ids.ts'
import { forEachInserted, forEachRow, isPostgres, jsonRows, rawRows } from '../sql.ts'

export type JobKind = 'event' | 'task' | 'delivery'

/**
 * A piece of work that must not be lost, claimed by a host. `subject` is JSON for its kind to read. A lane is an
 * installation's or a receiver's, its `owner` the installation. `size` is the text in bytes that the job keeps in memory.
 * `attempt` counts its runs, without those that were cut off; `interruptions` counts these. A result counts while the claim,
 * `leaseId`, holds.
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
  /** Runs after the jobs of its lane that came before it, and alone. SQLite has numbers for it. */
  ordered: boolean | number
  leaseId: string
  claimedAt: number
}

/**
 * As often as this a run that was cut off is no attempt: a job must not use up its retries by what it has nothing to do
 * with. After that it is, as the job may be what ends its host, or its sandbox process.
 */
export const mostInterruptions = 5

export type NewJob = {
  /** Default: a new one. */
  id?: string
  kind: JobKind
  subject: object
  lane: string
  /** The installation. Default: the lane. */
  owner?: string
  /** Text in bytes beside the subject. Default 0. */
  textSize?: number
  dueAt: number
  /** `waiting`: until its lane is resumed. Default `due`. */
  state?: 'due' | 'waiting'
  /** After those of its lane that came before it, and alone. */
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
const insertRows = forEachInserted<JobRow>({ table: 'jobs', columns: newColumns, key: ['id'] })

/** Stores work, in the transaction of its cause. @returns the rows */
export async function insertJobs(db: Db, jobs: readonly NewJob[]): Promise<JobRow[]> {
  const inOrder = new Set(jobs.flatMap(({ lane, ordered }) => (ordered ? [lane] : [])))
  if (inOrder.size > 0) await comeAfter(db, [...inOrder])
  // By the clock of due times: jobs that come due later are known by it.
  const createdAt = nowOf(db)
  const rows = jobs.map((job) => toRow(job, createdAt))
  await insertRows(db, rows)
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

/** Deliveries of an installation that are not settled. */
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

/** Jobs of the lane that are still to be done, those that wait for a resume included. */
export async function countPendingJobs(db: Db, kind: JobKind, lane: string): Promise<number> {
  let count = 0
  for (const state of ['due', 'waiting']) {
    const row = await db('jobs').where({ state, kind, lane }).count({ count: '*' }).first()
    count += Number(row?.count ?? 0)
  }
  return count
}

/**
 * What becomes of a job that was claimed. `gone`: there is nothing more to do, and what came of it is written
 * elsewhere. `due`, and `interrupted` by what is not its own doing: this was no attempt. `waiting`: until its lane is
 * resumed; this was no attempt. `failed` is kept for people to look at.
 */
export type Move =
  | { state: 'gone' }
  | { state: 'due'; dueAtMs: number; reason: string; interrupted?: boolean }
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

/** What waits is looked at again this much after a resume. */
const afterWaitMs = 1_000

/** @returns the ids of the jobs whose claim still held */
export async function moveJobs(db: Db, moves: readonly MoveOf[], nowMs: number): Promise<Set<string>> {
  const gone = moves.filter(({ move }) => move.state === 'gone')
  const kept = moves.filter(({ move }) => move.state !== 'gone')
  const wereOurs = await deleteJobs(
    db,
    gone.map(({ id, leaseId }) => ({ id, leaseId })),
  )
  const moved = [...gone.filter((_one, n) => wereOurs[n]), ...(await updateJobs(db, kept, nowMs))]
  return new Set(moved.map(({ id }) => id))
}

const deleteJobs = forEachRow<Pick<MoveOf, 'id' | 'leaseId'>>({
  ...{ table: 'jobs', columns: claimColumns, key: ['id'] },
  sql: (given) => `delete from jobs where (id, lease_id) in (select id, lease_id from ${given})`,
})

async function updateJobs(db: Db, moves: readonly MoveOf[], nowMs: number): Promise<{ id: string }[]> {
  if (moves.length === 0) return []
  const isInterrupted = (move: Move) => move.state === 'due' && move.interrupted === true
  const rows = moves.map(({ id, leaseId, move }) => ({
    id,
    leaseId,
    state: move.state,
    dueAt: move.state === 'due' ? move.dueAtMs : nowMs + afterWaitMs,
    lastError: 'reason' in move ? move.reason : null,
    finishedAt: move.state === 'failed' ? nowMs : null,
    attemptBack: move.state === 'waiting' || isInterrupted(move) ? 1 : 0,
    interrupted: isInterrupted(move) ? 1 : 0,
  }))
  return rawRows(
    db,
    `update jobs set state = moved.state, due_at = moved.due_at, last_error = moved.last_error,
       finished_at = moved.finished_at, attempt = jobs.attempt - moved.attempt_back,
       interruptions = jobs.interruptions + moved.interrupted,
       lease_id = null, lease_until = null, host_id = null, claimed_at = null
     from ${jsonRows(db, 'moved', moveColumns)}
     where jobs.id = moved.id and jobs.lease_id = moved.lease_id
     returning jobs.id as id`,
    [JSON.stringify(rows)],
  )
}

/**
 * Changes jobs, without those that another transaction is changing.
 *
 * @param set what of them, as SQL
 * @param some a query for their ids. By these they are found: however much PostgreSQL's statistics are behind, the table is not read
 * @returns how many
 */
export async function changeSomeJobs(
  transaction: Db,
  set: string,
  some: string,
  bindings: readonly unknown[],
): Promise<number> {
  const ids = isPostgres(transaction) ? `= any (array (${some} for update skip locked))` : `in (${some})`
  const sql = `update jobs set ${set} where id ${ids} returning id`
  return (await rawRows(transaction, sql, bindings)).length
}

let lastPosition = 0

/** When a job was queued, in µs since 1970; for a scheduled task, when it is due first. */
export const positionAt = (ms: number): number => ms * 1_000

/** The place of a job in its lane: when it was queued, and greater than the place before it. */
export function nextPosition(nowMs: number): number {
  lastPosition = Math.max(lastPosition + 1, positionAt(nowMs))
  return lastPosition
}

/**
 * Makes the next positions greater than all in these lanes, whatever the clock of the host that stored them said. On
 * PostgreSQL no other transaction stores in the lanes until this one ends: a job with a lower position that is committed
 * later would run beside another one of its lane.
 */
export async function comeAfter(db: Db, lanes: readonly string[]): Promise<void> {
  const given = [JSON.stringify(lanes.map((lane) => ({ lane })))]
  const rows = jsonRows(db, 'given', { lane: 'text' })
  // All take them in the same order.
  const lock = "pg_advisory_xact_lock(hashtextextended('annex lane ' || lane, 0))"
  if (isPostgres(db))
    await db.raw(`select ${lock} from (select lane from ${rows} order by lane) as given`, given)
  // A statement of its own: it sees what was committed while it waited for the lock.
  const last = 'select position from jobs where lane = given.lane and ordered order by position desc limit 1'
  const [row] = await rawRows<{ last: number | null }>(
    db,
    `select max(position) as last from (select (${last}) as position from ${rows}) as lasts`,
    given,
  )
  lastPosition = Math.max(lastPosition, Number(row?.last ?? 0))
}
