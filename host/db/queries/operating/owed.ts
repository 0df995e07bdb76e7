import { nowOf } from '../../database-clock.ts'
import type { Db } from '../../db.ts'
import type { EndpointState } from '../endpoints.ts'
import type { JobKind } from '../jobs.ts'

export type OwedCounts = {
  jobs: { kind: JobKind; state: string; count: number }[]
  oldest: { kind: JobKind; ageMs: number }[]
  endpoints: { state: EndpointState; count: number }[]
}

type Counted = { kind?: string; state?: string; count?: string | number }

const kinds: readonly JobKind[] = ['event', 'task', 'delivery']
const states = ['due', 'running', 'waiting', 'failed']
/** Ids are in the order of time, but for deliveries that are sent again. */
const oldestOf = 100

/** How much is owed, and since when, by the clock of due times. Each count is of one partial index. */
export async function readOwed(db: Db): Promise<OwedCounts> {
  const jobs: OwedCounts['jobs'] = []
  for (const state of states) {
    const rows: Counted[] = await db('jobs')
      .select('kind')
      .count({ count: '*' })
      .whereRaw(`state = '${state}'`)
      .groupBy('kind')
    const counts = new Map(rows.map((row) => [row.kind, Number(row.count)]))
    for (const kind of kinds) jobs.push({ kind, state, count: counts.get(kind) ?? 0 })
  }
  const nowMs = nowOf(db)
  const oldest: OwedCounts['oldest'] = []
  for (const kind of kinds) {
    const isOwed = jobs.some((one) => one.kind === kind && one.state !== 'failed' && one.count > 0)
    const createdAt = isOwed ? await findOldest(db, kind) : undefined
    oldest.push({ kind, ageMs: createdAt === undefined ? 0 : Math.max(0, nowMs - createdAt) })
  }
  const endpoints: Counted[] = await db('endpoints').select('state').count({ count: '*' }).groupBy('state')
  return {
    jobs,
    oldest,
    endpoints: (['active', 'paused', 'disabled'] as const).map((state) => ({
      state,
      count: Number(endpoints.find((row) => row.state === state)?.count ?? 0),
    })),
  }
}

/**
 * When the oldest of them was stored. Deliveries by their ids, as they are most of what is owed; a few events among a
 * million deliveries would be far to seek that way, so of those the first that are due.
 */
async function findOldest(db: Db, kind: JobKind): Promise<number | undefined> {
  const first = db('jobs').select('createdAt').where({ kind }).limit(oldestOf)
  if (kind === 'delivery') first.whereNot({ state: 'failed' }).orderBy('id')
  else first.whereRaw(`state = 'due' and kind <> 'delivery'`).orderBy('dueAt')
  const row = await db
    .from(first.as('first'))
    .min({ createdAt: 'createdAt' })
    .first<{ createdAt: number | null }>()
  return row?.createdAt == null ? undefined : Number(row.createdAt)
}
