import type { Db } from '../../db.ts'
import { ofOrganization } from './of-organization.ts'

/** What one dispatch has used. `owner` is its installation, or its integration where it was for none. */
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
  outcome: string
  status: number | null
}

export async function insertReceipts(db: Db, rows: readonly Omit<ReceiptRow, 'id'>[]): Promise<void> {
  await db.batchInsert('receipts', [...rows], 100)
}

/** The newest first, or with `after` the first ones that came after that receipt. With `organizationId`: as logs. */
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
  // By the column that has an index.
  if (installationId !== undefined) query.where({ owner: installationId })
  if (before !== undefined) query.where('id', '<', before)
  if (after !== undefined) query.where('id', '>', after)
  if (organizationId !== undefined) query.where(ofOrganization(db, organizationId))
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
