import type { PublishableEventType } from '../../../schemas/events.ts'
import type { Db } from '../../db/db.ts'
import { createId } from '../../db/ids.ts'
import { oweDeliveries } from '../../db/queries/deliveries.ts'
import type { Endpoint } from '../../db/queries/endpoints.ts'
import { createSampleEvent, placesOf, type SamplePlace } from '../../events/sample-event.ts'
import { assertSendable } from './send-again.ts'

/**
 * Owes an endpoint an example: an event of the type with made-up fields and `example: true`, signed, sent and tried
 * again as any other.
 *
 * @param type default: what happens where the endpoint's level is
 * @returns the id of its delivery
 * @throws AnnexError `conflict` when the endpoint is disabled
 */
export async function sendExample(
  db: Db,
  { id, installationId, signedBy, url }: Endpoint,
  type: PublishableEventType = signedBy.startsWith('space:') ? 'space_content_updated' : 'site_view',
): Promise<string> {
  await assertSendable(db, id)
  const eventId = createId('evt')
  const event = createSampleEvent(type, placesFor(type, signedBy), { eventId, installationId, example: true })
  const owed = {
    installationId,
    signedBy,
    url,
    eventId,
    eventType: type,
    body: JSON.stringify(event),
    hops: 0,
  }
  const [delivery] = await db.transaction((transaction) => oweDeliveries(transaction, [owed]))
  return delivery?.id ?? ''
}

/** The level's own site or space; the rest is nobody's. */
function placesFor(type: PublishableEventType, signedBy: string): SamplePlace {
  const [kind, own] = signedBy.split(':', 2)
  const made: Required<SamplePlace> = {
    siteId: 'site_example',
    spaceId: 'space_example',
    pageId: 'page_example',
    revisionId: 'rev_example',
    ...(own !== undefined && { [`${kind}Id`]: own }),
  }
  return Object.fromEntries(placesOf[type].map((place) => [place, made[place]]))
}
