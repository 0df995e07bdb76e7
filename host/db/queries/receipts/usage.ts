import type { Db } from '../../db.ts'
import { ofOrganization } from './of-organization.ts'

/** The sums over the dispatches of one owner that ended in one minute. */
export type UsageRow = {
  owner: string
  /** When it begins, in Unix ms. */
  minute: number
  integration: string
  installationId: string | null
  dispatches: number
  failed: number
  cpuMs: number
  wallMs: number
  egressCalls: number
  egressBytes: number
  hostCalls: number
  maxHeapBytes: number
}

const sums = ['dispatches', 'failed', 'cpuMs', 'wallMs', 'egressCalls', 'egressBytes', 'hostCalls'] as const

/** Adds to what is there: several hosts, and several seconds of a minute, write to the same row. */
export async function addUsage(db: Db, rows: readonly UsageRow[]): Promise<void> {
  for (let at = 0; at < rows.length; at += 100) {
    await db('usage')
      .insert(rows.slice(at, at + 100))
      .onConflict(['owner', 'minute'])
      .merge({
        ...Object.fromEntries(
          sums.map((name) => [name, db.raw('?? + ??', [`usage.${name}`, `excluded.${name}`])]),
        ),
        maxHeapBytes: db.raw('case when ?? > ?? then ?? else ?? end', [
          ...['usage.maxHeapBytes', 'excluded.maxHeapBytes'],
          ...['usage.maxHeapBytes', 'excluded.maxHeapBytes'],
        ]),
      })
  }
}

export type UsageSum = Omit<UsageRow, 'owner' | 'minute' | 'integration' | 'installationId'> & { at: number }

/** Sums by `spanMs`, the newest first: of an installation, of an integration, of what an organization may see. */
export async function sumUsage(
  db: Db,
  where: {
    integration?: string
    installationId?: string
    organizationId?: string
    /** Unix ms. */
    before?: number
    spanMs: number
    limit: number
  },
): Promise<UsageSum[]> {
  const { integration, installationId, organizationId, before, spanMs, limit } = where
  const query = db('usage')
    .select(db.raw('minute - minute % ? as at', [spanMs]))
    .groupBy('at')
    .orderBy('at', 'desc')
    .limit(limit)
  for (const name of sums) query.sum({ [name]: name })
  query.max({ maxHeapBytes: 'maxHeapBytes' })
  if (integration !== undefined) query.where({ integration })
  if (installationId !== undefined) query.where({ owner: installationId })
  if (before !== undefined) query.where('minute', '<', before)
  if (organizationId !== undefined) query.where(ofOrganization(db, organizationId))
  // PostgreSQL sums whole numbers to `numeric`, which comes as text.
  const toNumbers = (row: object) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name, Number(value)])) as UsageSum
  return (await query).map(toNumbers)
}

/** Deletes sums of before `beforeMs`, at most `most` of them. */
export async function pruneUsage(db: Db, beforeMs: number, most: number): Promise<number> {
  const old = db('usage')
    .select('owner', 'minute')
    .where('minute', '<', beforeMs)
    .orderBy('minute')
    .limit(most)
  return db('usage').whereIn(['owner', 'minute'], old).delete()
}
