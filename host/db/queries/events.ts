import type { Db } from '../db.ts'
import { jsonRows, rawRows } from '../json-rows.ts'

export type EventRow = {
  id: string
  organizationId: string
  type: string
  payload: string
  receivedAt: number
}

const columns = {
  id: 'text',
  organizationId: 'text',
  type: 'text',
  payload: 'text',
  receivedAt: 'bigint',
} as const

/** @returns for each whether it is new: of an id that the organization has published before nothing is stored */
export async function insertEvents(db: Db, rows: readonly EventRow[]): Promise<boolean[]> {
  if (rows.length === 0) return []
  const inserted = await rawRows<Pick<EventRow, 'id' | 'organizationId'>>(
    db,
    `insert into events (id, organization_id, type, payload, received_at)
     select id, organization_id, type, payload, received_at from ${jsonRows(db, 'new_event', columns)} where true
     on conflict (organization_id, id) do nothing returning id, organization_id`,
    [JSON.stringify(rows)],
  )
  const areNew = new Set(inserted.map(keyOf))
  // Of two with one id in a group, the first.
  return rows.map((row) => areNew.delete(keyOf(row)))
}

const keyOf = ({ organizationId, id }: Pick<EventRow, 'id' | 'organizationId'>): string =>
  `${organizationId} ${id}`
