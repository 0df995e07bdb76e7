import { forEachInserted } from '../sql.ts'

type EventRow = {
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
export const insertEvents = forEachInserted<EventRow>({
  ...{ table: 'events', columns, key: ['organizationId', 'id'], unlessThere: ['organizationId', 'id'] },
})
