import { cacheReads } from '../cache.ts'
import type { Db } from '../db/db.ts'
import { isExternalId } from '../db/queries/external-ids.ts'
import { findOrganization } from '../db/queries/organizations.ts'
import { findPlace, isOwnId } from '../db/queries/places.ts'
import { explainSkipped, placeOfEvent } from '../events/match-installations.ts'
import type { PublishEvent } from '../events/publish-event.ts'
import type { PublishedEvent } from '../events/validate-event.ts'
import { theirOrganization } from './caller.ts'
import type { OnOperation } from './operations.ts'

type EventParts = { reader: Db; publish: PublishEvent }

/** The number of recipients is part of the key, so the cache does not name an installation that gets events now. */
type SkippedQuery = { organizationId: string; event: PublishedEvent; recipients: number }

/** Publishing events. */
export function addEventRoutes(on: OnOperation, { reader, publish }: EventParts): void {
  const organizations = cacheReads({ keyOf: String, read: (id: string) => findOrganization(reader, id) })
  const skipped = cacheReads({
    keyOf: ({ organizationId, event, recipients }: SkippedQuery) =>
      `${organizationId} ${event.type} ${placeOfEvent(event).id} ${recipients}`,
    read: ({ organizationId, event }) => explainSkipped(reader, organizationId, event),
  })

  on('POST /v1/events', async ({ caller, query, body, context }) => {
    const { id } = await theirOrganization(organizations.get, caller, query.organization)
    const event = await withPlaceIds(reader, id, body)
    const receipt = await publish(id, event)
    context.status = receipt.duplicate ? 200 : 202
    if (receipt.duplicate) return receipt
    // `publish` has validated it.
    const published = {
      organizationId: id,
      event: event as PublishedEvent,
      recipients: receipt.installations,
    }
    const passedOver = await skipped.get(published)
    return passedOver.length === 0 ? receipt : { ...receipt, skipped: passedOver }
  })
}

/** Replaces slugs and external ids of a site and a space by their ids. Unknown names stay: validation refuses them. */
async function withPlaceIds(db: Db, organizationId: string, event: unknown): Promise<unknown> {
  if (typeof event !== 'object' || event === null) return event
  const ids: Record<string, string> = {}
  for (const kind of ['site', 'space'] as const) {
    const name = (event as Record<string, unknown>)[`${kind}Id`]
    if (typeof name !== 'string' || isOwnId(kind, name) || !isExternalId(name)) continue
    const place = await findPlace(db, kind, organizationId, name)
    if (place !== undefined) ids[`${kind}Id`] = place.id
  }
  return Object.keys(ids).length === 0 ? event : { ...event, ...ids }
}
