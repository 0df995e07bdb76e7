import type { Knex } from 'knex'
import { nowOf } from '../../database-clock.ts'
import type { Db } from '../../db.ts'
import { isPostgres } from '../../sql.ts'
import { comesDue } from '../claims.ts'
import type { EndpointState } from '../endpoints.ts'
import type { JobKind } from '../jobs.ts'

export type OwedCounts = {
  jobs: { kind: JobKind; state: string; count: number }[]
  /** For how long the oldest has been owed that is not done, whether it runs, or waits for a retry or a resume; 0: nothing is late. */
  oldest: { kind: JobKind; ageMs: number }[]
  endpoints: { state: EndpointState; count: number }[]
}

type Counted = { kind: JobKind; count: string | number; since?: string | number }

const kinds: readonly JobKind[] = ['event', 'task', 'delivery']
/** A delivery that has failed is no job any more. */
const keptFailed: readonly JobKind[] = ['event', 'task']
const states = ['due', 'running', 'waiting', 'failed']
/** Of more that wait for their retry, these are looked at: those that are due first. */
const mostLookedAt = 10_000

/** How much is owed, and since when, by the clock of due times. Each count is of one partial index. */
export async function readOwed(db: Db): Promise<OwedCounts> {
  const jobs: OwedCounts['jobs'] = []
  const since = new Map<JobKind, number>(kinds.map((kind) => [kind, Number.POSITIVE_INFINITY]))
  const take = (kind: JobKind, atMs: number) => since.set(kind, Math.min(since.get(kind) ?? atMs, atMs))
  for (const state of states) {
    const rows = await countState(db, state)
    const counts = new Map(rows.map((row) => [row.kind, Number(row.count)]))
    for (const kind of state === 'failed' ? keptFailed : kinds) {
      jobs.push({ kind, state, count: counts.get(kind) ?? 0 })
    }
    for (const row of rows) if (row.since !== undefined) take(row.kind, Number(row.since))
  }
  for (const { kind, state, count } of jobs) {
    if (state === 'due' && count > 0) take(kind, await findPutOff(db, kind))
  }
  const nowMs = nowOf(db)
  const endpoints = await db<{ state: EndpointState }>('endpoints')
    .select('state')
    .count({ count: '*' })
    .groupBy('state')
  return {
    jobs,
    oldest: kinds.map((kind) => ({ kind, ageMs: Math.max(0, nowMs - (since.get(kind) ?? nowMs)) })),
    endpoints: (['active', 'paused', 'disabled'] as const).map((state) => ({
      state,
      count: Number(endpoints.find((row) => row.state === state)?.count ?? 0),
    })),
  }
}

/** Since when a job is owed: a task that was scheduled has its place by when it is due first. */
const owedSince = (db: Db): string =>
  isPostgres(db) ? 'greatest(created_at, position / 1000)' : 'max(created_at, position / 1000)'

/**
 * What is due by when it is due, which its index has: what is put off has been owed for longer. What runs is little, and what waits
 * is read to be counted anyway.
 */
async function countState(db: Db, state: string): Promise<Counted[]> {
  const query: Knex.QueryBuilder = db('jobs')
    .select('kind')
    .count({ count: '*' })
    .whereRaw(`state = '${state}'`)
    .groupBy('kind')
  if (state === 'failed') return query
  return query.min({ since: state === 'due' ? 'dueAt' : db.raw(owedSince(db)) })
}

/** Since when the oldest is owed of those that have been put off, or come due by themselves. */
async function findPutOff(db: Db, kind: JobKind): Promise<number> {
  const some = db('jobs')
    .select(db.raw(`${owedSince(db)} as since`))
    .where({ kind })
    .whereRaw(comesDue)
    .orderBy('dueAt')
    .limit(mostLookedAt)
  const row = await db.from(some.as('some')).min({ since: 'since' }).first<Counted>()
  return row?.since == null ? Number.POSITIVE_INFINITY : Number(row.since)
}
