import type { Origin } from '../access/actor.ts'
import type { Db } from '../db/db.ts'
import { createId } from '../db/ids.ts'
import type { Space } from '../db/queries/places.ts'
import { type PublishReceipt, storeEvents, toPublishing } from '../events/publish-event.ts'
import type { PublishedEvent } from '../events/validate-event.ts'
import { changePlace, type PlaceEdit } from './records.ts'

/**
 * Changes a space. A new visibility makes the event `space_visibility_updated`, in the same transaction.
 *
 * @param onPublished called after the commit of an event
 * @throws AnnexError `not_found`, `conflict` when the slug or an external id is taken in the organization
 */
export async function changeSpace(
  db: Db,
  origin: Origin,
  id: string,
  change: PlaceEdit,
  onPublished: (type: string, receipt: PublishReceipt) => void,
): Promise<Space> {
  const stored: [type: string, receipt: PublishReceipt][] = []
  const changed = await changePlace(db, origin, 'space', id, change, async (transaction, before) => {
    stored.length = 0
    const { visibility } = change
    if (visibility === undefined || visibility === before.visibility) return
    const event: PublishedEvent = {
      type: 'space_visibility_updated',
      eventId: createId('evt'),
      spaceId: id,
      visibility,
      previousVisibility: before.visibility,
    }
    const [receipt] = await storeEvents(transaction, [toPublishing(before.organizationId, event)])
    if (receipt !== undefined) stored.push([event.type, receipt])
  })
  for (const published of stored) onPublished(...published)
  return changed
}
