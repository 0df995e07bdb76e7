import type { Db } from '../db.ts'
import { forEachRow } from '../rows/each-row.ts'

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
export const insertEvents = (db: Db, rows: readonly EventRow[]): Promise<boolean[]> =>
  forEachRow(db, {
    ...{ table: 'events', columns, rows, key: ['organizationId', 'id'] },
    sql: (from) => `insert into events (id, organization_id, type, payload, received_at)
      select given.id, given.organization_id, given.type, given.payload, given.received_at ${from()} where true
      on conflict (organization_id, id) do nothing`,
  })
