import type { Db } from '../open-database.ts'

export type EventRow = {
  id: string
  organizationId: string
  type: string
  payload: string
  receivedAt: number
}

/** @returns false when the organization has published an event with that id before: nothing is stored then */
export async function insertEvent(db: Db, row: EventRow): Promise<boolean> {
  const inserted = await db('events')
    .insert(row)
    .onConflict(['organizationId', 'id'])
    .ignore()
    .returning('id')
  return inserted.length === 1
}
