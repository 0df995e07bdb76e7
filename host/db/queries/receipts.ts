import type { Knex } from 'knex'
import type { Db } from '../db.ts'

/** The resources that a dispatch has used. `owner` is its installation; without one, its integration. */
export type ReceiptRow = {
  id: number
  owner: string
  integration: string
  installationId: string | null
  requestId: string
  type: string
  eventId: string | null
  startedAt: number
  cpuMs: number
  wallMs: number
  heapBytes: number
  egressCalls: number
  egressBytes: number
  hostCalls: number
  deliveries: number
  tasks: number
  outcome: string
  status: number | null
}

export async function insertReceipts(db: Db, rows: readonly Omit<ReceiptRow, 'id'>[]): Promise<void> {
  await db.batchInsert('receipts', [...rows], 100)
}

/** Lists receipts, the newest first; with `after`, the first ones after that receipt. `organizationId`: as in `listLogs`. */
export async function listReceipts(
  db: Db,
  where: {
    integration?: string
    installationId?: string
    requestId?: string
    eventId?: string
    organizationId?: string
    before?: number
    after?: number
    limit: number
  },
): Promise<ReceiptRow[]> {
  const { before, after, limit, organizationId, installationId, ...equal } = where
  const query = db('receipts').where(equal).limit(limit)
  // The column `owner` has the index.
  if (installationId !== undefined) query.where({ owner: installationId })
  if (before !== undefined) query.where('id', '<', before)
  if (after !== undefined) query.where('id', '>', after)
  if (organizationId !== undefined) query.whereIn('owner', usageOwnersIn(db, organizationId))
  return query.orderBy('id', after === undefined ? 'desc' : 'asc')
}

/** Deletes the oldest receipts of an owner beyond its newest `keep`, at most `most` of them. @returns how many */
export async function pruneReceipts(db: Db, owner: string, keep: number, most: number): Promise<number> {
  const own = () => db('receipts').where({ owner })
  const newest = await own().select('id').orderBy('id', 'desc').offset(keep).limit(1).first()
  if (newest === undefined) return 0
  const old = own().select('id').where('id', '<=', newest.id).orderBy('id').limit(most)
  return db('receipts').whereIn('id', old).delete()
}

/** The sums over the dispatches of one owner that ended in one minute. */
export type UsageRow = {
  owner: string
  /** Start of the minute, in Unix ms. */
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

export const usageSums = [
  'dispatches',
  'failed',
  'cpuMs',
  'wallMs',
  'egressCalls',
  'egressBytes',
  'hostCalls',
] as const

/** Adds to the stored sums: several hosts, and several seconds of a minute, write to the same row. */
export async function addUsage(db: Db, rows: readonly UsageRow[]): Promise<void> {
  for (let at = 0; at < rows.length; at += 100) {
    await db('usage')
      .insert(rows.slice(at, at + 100))
      .onConflict(['owner', 'minute'])
      .merge({
        ...Object.fromEntries(
          usageSums.map((name) => [name, db.raw('?? + ??', [`usage.${name}`, `excluded.${name}`])]),
        ),
        maxHeapBytes: db.raw('case when ?? > ?? then ?? else ?? end', [
          ...['usage.maxHeapBytes', 'excluded.maxHeapBytes'],
          ...['usage.maxHeapBytes', 'excluded.maxHeapBytes'],
        ]),
      })
  }
}

export type UsageSum = Omit<UsageRow, 'owner' | 'minute' | 'integration' | 'installationId'> & { at: number }

type UsageFilter = {
  integration?: string
  installationId?: string
  organizationId?: string
  /** Unix ms. */
  before?: number
}

/**
 * Sums usage by `spanMs`, the newest first: of an installation, an integration or an organization. A page reads back until
 * it is full, and not all minutes.
 */
export async function sumUsage(
  db: Db,
  { spanMs, limit, ...filter }: UsageFilter & { spanMs: number; limit: number },
): Promise<UsageSum[]> {
  const newest = await edgeOf(db, 'max')
  const oldest = await edgeOf(db, 'min')
  if (newest === undefined || oldest === undefined) return []
  const end = Math.min(filter.before ?? newest + spanMs, newest + spanMs)
  for (let backMs = spanMs * limit; ; backMs *= 4) {
    const from = end - backMs - (end % spanMs)
    const found = await sumSince(db, filter, { from, spanMs, limit })
    if (found.length === limit || from <= oldest) return found
  }
}

async function edgeOf(db: Db, edge: 'max' | 'min'): Promise<number | undefined> {
  const [row] = await db('usage')[edge]({ minute: 'minute' })
  return row?.minute == null ? undefined : Number(row.minute)
}

async function sumSince(
  db: Db,
  { integration, installationId, organizationId, before }: UsageFilter,
  { from, spanMs, limit }: { from: number; spanMs: number; limit: number },
): Promise<UsageSum[]> {
  const query = db('usage')
    .select(db.raw('minute - minute % ? as at', [spanMs]))
    .where('minute', '>=', from)
    .groupBy('at')
    .orderBy('at', 'desc')
    .limit(limit)
  for (const name of usageSums) query.sum({ [name]: name })
  query.max({ maxHeapBytes: 'maxHeapBytes' })
  if (integration !== undefined) query.where({ integration })
  if (installationId !== undefined) query.where({ owner: installationId })
  if (before !== undefined) query.where('minute', '<', before)
  if (organizationId !== undefined) query.whereIn('owner', usageOwnersIn(db, organizationId))
  // PostgreSQL sums whole numbers to `numeric`, which comes as text.
  const toNumbers = (row: object) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name, Number(value)])) as UsageSum
  return (await query).map(toNumbers)
}

/** Deletes at most `most` sums that are older than `beforeMs`. */
export async function pruneUsage(db: Db, beforeMs: number, most: number): Promise<number> {
  const old = db('usage')
    .select('owner', 'minute')
    .where('minute', '<', beforeMs)
    .orderBy('minute')
    .limit(most)
  return db('usage').whereIn(['owner', 'minute'], old).delete()
}

/** The owners of an organization's rows: its installations, and its integrations for what has no installation. */
export const usageOwnersIn = (db: Db, organizationId: string): Knex.QueryBuilder =>
  db('installations')
    .select('id')
    .where({ organizationId })
    .unionAll(db('integrations').select('name').where({ organizationId }))
