import type { Knex } from 'knex'
import { nowOf } from '../database-clock.ts'
import type { Db, JobKind } from '../db.ts'
import { larger } from '../sql.ts'
import { comesDue } from './claims.ts'
import type { ReceiverState } from './receivers.ts'

export type Backlog = {
  jobs: { kind: JobKind; state: string; count: number }[]
  /** Age of the oldest job that is due, runs, or waits for a retry or a resume. 0: no job is late. */
  oldest: { kind: JobKind; ageMs: number }[]
  oldestDue: OldestDue[]
  receivers: { state: ReceiverState; count: number }[]
}

/** The event or task that has been due for longest. `lane`: its installation, or its integration. */
export type OldestDue = { kind: 'event' | 'task'; dueForMs: number; lane: string }

type Counted = { kind: JobKind; count: string | number; since?: string | number }

const kinds: readonly JobKind[] = ['event', 'task', 'delivery']
/** A failed delivery has no job. */
const ofScripts = ['event', 'task'] as const
const states = ['due', 'running', 'waiting', 'failed']
/** The oldest of this many retries and scheduled tasks is found. The next ones by due time are not read. */
const mostReadLater = 10_000

/** Counts jobs, with the age of the oldest by the clock of due times. Each count reads one partial index. */
export async function readBacklog(db: Db): Promise<Backlog> {
  const jobs: Backlog['jobs'] = []
  const since = new Map<JobKind, number>(kinds.map((kind) => [kind, Number.POSITIVE_INFINITY]))
  const take = (kind: JobKind, atMs: number) => since.set(kind, Math.min(since.get(kind) ?? atMs, atMs))
  for (const state of states) {
    const rows = await countState(db, state)
    const counts = new Map(rows.map((row) => [row.kind, Number(row.count)]))
    for (const kind of state === 'failed' ? ofScripts : kinds) {
      jobs.push({ kind, state, count: counts.get(kind) ?? 0 })
    }
    for (const row of rows) if (row.since !== undefined) take(row.kind, Number(row.since))
  }
  for (const { kind, state, count } of jobs) {
    if (state === 'due' && count > 0) take(kind, await oldestOfLater(db, kind))
  }
  const nowMs = nowOf(db)
  const receivers = await db<{ state: ReceiverState }>('receivers')
    .select('state')
    .count({ count: '*' })
    .groupBy('state')
  return {
    jobs,
    oldestDue: await readOldestDue(db),
    oldest: kinds.map((kind) => ({ kind, ageMs: Math.max(0, nowMs - (since.get(kind) ?? nowMs)) })),
    receivers: (['active', 'paused', 'disabled'] as const).map((state) => ({
      state,
      count: Number(receivers.find((row) => row.state === state)?.count ?? 0),
    })),
  }
}

/** Of each kind that has one. */
export async function readOldestDue(db: Db): Promise<OldestDue[]> {
  const nowMs = nowOf(db)
  const found: OldestDue[] = []
  for (const kind of ofScripts) {
    const row = await db('jobs')
      .where({ kind })
      .where('dueAt', '<=', nowMs)
      .whereRaw(`state = 'due' and kind <> 'delivery'`)
      .orderBy(['dueAt', 'id'])
      .first('dueAt', 'lane')
    if (row !== undefined) found.push({ kind, dueForMs: nowMs - Number(row.dueAt), lane: row.lane })
  }
  return found
}

/** When a job became pending. A scheduled task becomes pending at its first due time, which its position holds. */
export const pendingSince = (db: Db): string => larger(db, 'created_at', 'position / 1000')

/**
 * Due jobs count from their due time, which the index holds. `oldestOfLater` adds retries and scheduled tasks. Few jobs run,
 * and the count reads waiting jobs anyway.
 */
async function countState(db: Db, state: string): Promise<Counted[]> {
  const query: Knex.QueryBuilder = db('jobs')
    .select('kind')
    .count({ count: '*' })
    .whereRaw(`state = '${state}'`)
    .groupBy('kind')
  if (state === 'failed') return query
  return query.min({ since: state === 'due' ? 'dueAt' : db.raw(pendingSince(db)) })
}

/** The pending time of the oldest retry or scheduled task. */
async function oldestOfLater(db: Db, kind: JobKind): Promise<number> {
  const some = db('jobs')
    .select(db.raw(`${pendingSince(db)} as since`))
    .where({ kind })
    .whereRaw(comesDue)
    .orderBy('dueAt')
    .limit(mostReadLater)
  const row = await db.from(some.as('some')).min({ since: 'since' }).first<Counted>()
  return row?.since == null ? Number.POSITIVE_INFINITY : Number(row.since)
}
