import type { Knex } from 'knex'
import type { Db } from '../db.ts'
import { inSpan, type Span } from '../page.ts'
import { inCorrelated } from '../sql.ts'

/** Outcomes of a dispatch that did not fail. */
export const fineOutcomes: readonly string[] = ['ok', 'no_handler']

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
  /** `StoredRequests` as JSON. */
  outboundRequests: string | null
}

/** A receipt as a list has it. */
export type ListedReceipt = Omit<ReceiptRow, 'outboundRequests'>

const listed = [
  ...['id', 'owner', 'integration', 'installationId', 'requestId', 'type', 'eventId', 'startedAt', 'cpuMs'],
  ...['wallMs', 'heapBytes', 'egressCalls', 'egressBytes', 'hostCalls', 'deliveries', 'tasks', 'outcome'],
  'status',
]

export async function insertReceipts(db: Db, rows: readonly Omit<ReceiptRow, 'id'>[]): Promise<void> {
  await db.batchInsert('receipts', [...rows], 100)
}

/** Lists receipts, the newest first; with `after`, the first ones after that receipt. `organizationId`: as in `listLogs`. */
export async function listReceipts(
  db: Db,
  { organizationId, after, limit, ...where }: ReceiptFilter & { limit: number },
): Promise<ListedReceipt[]> {
  const { before, installationId, requestId, eventId } = where
  const query = narrow(db('receipts').select(listed), where).limit(limit)
  if (after !== undefined) query.where('receipts.id', '>', after)
  if (organizationId === undefined) return query.orderBy('receipts.id', after === undefined ? 'desc' : 'asc')
  const isFew = [after, installationId, requestId, eventId].some((one) => one !== undefined)
  if (isFew) {
    query.whereIn('receipts.owner', usageOwnersIn(db, organizationId))
    return query.orderBy('receipts.id', after === undefined ? 'desc' : 'asc')
  }
  return ofOrganization(db, organizationId, { ...where, before, limit })
}

type ReceiptFilter = Span & {
  integration?: string
  installationId?: string
  requestId?: string
  eventId?: string
  type?: string
  /** `failed`: all that are not in `fineOutcomes`. */
  outcome?: string
  organizationId?: string
  before?: number
  after?: number
}

function narrow(query: Knex.QueryBuilder, where: ReceiptFilter): Knex.QueryBuilder {
  const { before, installationId, outcome, sinceMs, untilMs, ...equal } = where
  for (const [column, value] of Object.entries(equal)) query.where(`receipts.${column}`, value)
  // The column `owner` has the index.
  if (installationId !== undefined) query.where('receipts.owner', installationId)
  if (before !== undefined) query.where('receipts.id', '<', before)
  if (outcome === 'failed') query.whereNotIn('receipts.outcome', fineOutcomes)
  else if (outcome !== undefined) query.where('receipts.outcome', outcome)
  return inSpan(query, 'receipts.startedAt', { sinceMs, untilMs })
}

/** One page of each owner, by its index: without the inner pages all receipts of the organization would be sorted. */
function ofOrganization(
  db: Db,
  organizationId: string,
  { before = Number.MAX_SAFE_INTEGER, limit, ...where }: ReceiptFilter & { limit: number },
): Knex.QueryBuilder {
  // As for deliveries: ranges and an order of two columns lead to the index of both.
  const ofOne = narrow(db('receipts').select('receipts.id'), where)
    .where('receipts.owner', '>=', db.ref('theirs.id'))
    .whereRaw('(receipts.owner, receipts.id) < (theirs.id, ?)', [before])
    .orderBy('receipts.owner', 'desc')
    .orderBy('receipts.id', 'desc')
    .limit(limit)
    .toSQL()
  return (
    db(usageOwnersIn(db, organizationId).as('theirs'))
      .select(listed.map((column) => `found.${column}`))
      // SQLite keeps to the order of a cross join.
      .crossJoin('receipts as found' as never)
      .whereRaw(`found.id ${inCorrelated(db, ofOne.sql)}`, ofOne.bindings as never)
      .orderBy('found.id', 'desc')
      .limit(limit)
  )
}

/** Finds a receipt with its outbound requests. `organizationId`: as in `listLogs`. */
export async function findReceipt(
  db: Db,
  id: number,
  { organizationId }: { organizationId?: string },
): Promise<ReceiptRow | undefined> {
  const query = db('receipts').where({ id })
  if (organizationId !== undefined) query.whereIn('owner', usageOwnersIn(db, organizationId))
  return query.first()
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
