import { createId } from '../ids.ts'
import type { Db } from '../open-database.ts'

export type JobKind = 'event' | 'task' | 'delivery'

/** A piece of work that must not be lost. `subject` is for its kind to read. */
export type Job = { id: string; kind: JobKind; subject: string; attempt: number; dueAt: number }

export async function insertJobs(
  db: Db,
  jobs: readonly { kind: JobKind; subject: object; dueAt: number }[],
): Promise<void> {
  if (jobs.length === 0) return
  const createdAt = Date.now()
  const rows = jobs.map(({ kind, subject, dueAt }) => ({
    id: createId('job'),
    kind,
    subject: JSON.stringify(subject),
    state: 'due',
    attempt: 0,
    dueAt,
    createdAt,
  }))
  // SQLite takes at most 500 rows in one insert.
  await db.batchInsert('jobs', rows, 100)
}

/**
 * Takes due jobs, the longest due first, for `leaseMs`. One statement, so that no two claims get the same
 * job; on PostgreSQL the rows that another host is claiming are passed over.
 */
export async function claimJobs(
  db: Db,
  given: { nowMs: number; leaseId: string; leaseMs: number; limit: number; shared: boolean },
): Promise<Job[]> {
  const { nowMs, leaseId, leaseMs, limit, shared } = given
  const due = db('jobs')
    .select('id')
    .where('state', 'due')
    .where('dueAt', '<=', nowMs)
    .orderBy('dueAt')
    .limit(limit)
  const rows = await db('jobs')
    .whereIn('id', shared ? due.forUpdate().skipLocked() : due)
    .update({ state: 'running', leaseId, leaseUntil: nowMs + leaseMs, attempt: db.raw('attempt + 1') })
    .returning(['id', 'kind', 'subject', 'attempt', 'dueAt'])
  return rows.sort((a: Job, b: Job) => a.dueAt - b.dueAt)
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

/** Makes claimed jobs due again: all whose lease has run out, or, where one process owns the database, all. */
export async function releaseJobs(
  db: Db,
  where: { leaseUntilBefore?: number; leaseId?: string },
): Promise<number> {
  const query = db('jobs').where({ state: 'running' })
  if (where.leaseUntilBefore !== undefined) query.where('leaseUntil', '<', where.leaseUntilBefore)
  if (where.leaseId !== undefined) query.where({ leaseId: where.leaseId })
  return query.update({ state: 'due', leaseId: null, leaseUntil: null })
}

/** When the next job is due, in Unix ms. */
export async function nextDueAt(db: Db): Promise<number | undefined> {
  const row = await db('jobs').where({ state: 'due' }).min({ dueAt: 'due_at' }).first()
  return row?.dueAt == null ? undefined : Number(row.dueAt)
}
