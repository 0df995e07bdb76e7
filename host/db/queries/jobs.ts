import { createId } from '../ids.ts'
import type { Db } from '../open-database.ts'

export type JobKind = 'event' | 'task' | 'delivery'

/**
 * A piece of work that must not be lost. `subject` is for its kind to read. `lane` is whose turn it takes: an
 * installation's, or a receiver's.
 */
export type Job = { id: string; kind: JobKind; subject: string; lane: string; attempt: number; dueAt: number }

export async function insertJobs(
  db: Db,
  jobs: readonly { kind: JobKind; subject: object; lane: string; dueAt: number }[],
): Promise<void> {
  if (jobs.length === 0) return
  const createdAt = Date.now()
  const rows = jobs.map(({ kind, subject, lane, dueAt }) => ({
    id: createId('job'),
    kind,
    subject: JSON.stringify(subject),
    lane,
    state: 'due',
    attempt: 0,
    dueAt,
    createdAt,
  }))
  // SQLite takes at most 500 rows in one insert.
  await db.batchInsert('jobs', rows, 100)
}

/** Which jobs a worker looks for: of these kinds, and of no lane that has its share already. */
export type Wanted = { kinds: readonly JobKind[]; fullLanes: readonly string[] }

/** Due jobs, the longest due first: what a worker chooses from. */
export async function findDueJobs(
  db: Db,
  { kinds, fullLanes }: Wanted,
  nowMs: number,
  limit: number,
): Promise<Pick<Job, 'id' | 'lane'>[]> {
  return db('jobs')
    .select('id', 'lane')
    .where({ state: 'due' })
    .whereIn('kind', kinds)
    .whereNotIn('lane', fullLanes)
    .where('dueAt', '<=', nowMs)
    .orderBy('dueAt')
    .limit(limit)
}

/** Takes those of the jobs that are still due, for `leaseMs`. One statement: no two claims get the same job. */
export async function claimJobs(
  db: Db,
  ids: readonly string[],
  given: { nowMs: number; leaseId: string; leaseMs: number },
): Promise<Job[]> {
  if (ids.length === 0) return []
  const { nowMs, leaseId, leaseMs } = given
  return db('jobs')
    .whereIn('id', ids)
    .where({ state: 'due' })
    .update({ state: 'running', leaseId, leaseUntil: nowMs + leaseMs, attempt: db.raw('attempt + 1') })
    .returning(['id', 'kind', 'subject', 'lane', 'attempt', 'dueAt'])
}

/** Jobs of the lane that are still to be done, those that wait for a resume included. */
export async function countOwedJobs(db: Db, kind: JobKind, lane: string): Promise<number> {
  let count = 0
  for (const state of ['due', 'waiting']) {
    const row = await db('jobs').where({ state, kind, lane }).count({ count: '*' }).first()
    count += Number(row?.count ?? 0)
  }
  return count
}

type Claim = { id: string; leaseId: string }

/** @returns false when the claim is no longer the caller's: its lease ran out and somebody else has the job */
export async function finishJob(
  db: Db,
  { id, leaseId }: Claim,
  state: 'done' | 'failed',
  error?: string,
): Promise<boolean> {
  const change = { state, lastError: error ?? null, finishedAt: Date.now(), leaseId: null, leaseUntil: null }
  return (await db('jobs').where({ id, leaseId }).update(change)) === 1
}

/** Gives a job back, to be tried again. @returns as `finishJob` */
export async function postponeJob(
  db: Db,
  { id, leaseId }: Claim,
  dueAt: number,
  error: string,
): Promise<boolean> {
  const change = { state: 'due', dueAt, lastError: error, leaseId: null, leaseUntil: null }
  return (await db('jobs').where({ id, leaseId }).update(change)) === 1
}

const afterWaitMs = 1_000

/** Lays a job aside until its lane is resumed: this was no attempt. @returns as `finishJob` */
export async function parkJob(db: Db, { id, leaseId }: Claim, reason: string): Promise<boolean> {
  const change = { state: 'waiting', lastError: reason, leaseId: null, leaseUntil: null }
  const dueAt = Date.now() + afterWaitMs
  const parked = await db('jobs')
    .where({ id, leaseId })
    .update({ ...change, dueAt, attempt: db.raw('attempt - 1') })
  return parked === 1
}

/** Makes the jobs due that wait for one of the lanes. */
export async function releaseWaitingJobs(db: Db, lanes: readonly string[]): Promise<void> {
  await db('jobs').where({ state: 'waiting' }).whereIn('lane', lanes).update({ state: 'due' })
}

/** Makes claimed jobs due again: all whose lease has run out, or, where one process owns the database, all. */
export async function releaseJobs(
  db: Db,
  where: { kinds: readonly JobKind[]; leaseUntilBefore?: number },
): Promise<number> {
  const query = db('jobs').where({ state: 'running' }).whereIn('kind', where.kinds)
  if (where.leaseUntilBefore !== undefined) query.where('leaseUntil', '<', where.leaseUntilBefore)
  return query.update({ state: 'due', leaseId: null, leaseUntil: null })
}

/** When the next of the wanted jobs is due, in Unix ms. */
export async function nextDueAt(db: Db, { kinds, fullLanes }: Wanted): Promise<number | undefined> {
  const row = await db('jobs')
    .where({ state: 'due' })
    .whereIn('kind', kinds)
    .whereNotIn('lane', fullLanes)
    .min({ dueAt: 'due_at' })
    .first()
  return row?.dueAt == null ? undefined : Number(row.dueAt)
}
