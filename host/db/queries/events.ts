import type { Db } from '../db.ts'
import { forEachNew } from '../json-rows.ts'

type EventRow = {
  id: string
  organizationId: string
  type: string
  /** Of events of a site: views and feedback are found by it. */
  siteId: string | null
  payload: string
  receivedAt: number
}

const columns = {
  id: 'text',
  organizationId: 'text',
  type: 'text',
  siteId: 'text',
  payload: 'text',
  receivedAt: 'bigint',
} as const

/** @returns for each event whether it is new. An id that the organization has published before is not stored again. */
export const insertEvents = forEachNew<EventRow>({
  ...{ table: 'events', columns, key: ['organizationId', 'id'], unlessThere: ['organizationId', 'id'] },
})

/** The site of an event of an installation's organization, while the event is kept. */
export async function findSiteOfEvent(
  db: Db,
  { installationId, eventId }: { installationId: string; eventId: string },
): Promise<string | undefined> {
  const owner = db('installations').select('organizationId').where({ id: installationId })
  const row = await db('events').where({ id: eventId }).whereIn('organizationId', owner).first('siteId')
  return row?.siteId ?? undefined
}
