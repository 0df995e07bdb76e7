import type Router from '@koa/router'
import { cacheReads } from '../cache.ts'
import type { Db } from '../db/db.ts'
import { findOrganization } from '../db/queries/organizations.ts'
import { findPlace } from '../db/queries/places.ts'
import { eventTarget, explainSkipped } from '../events/match-installations.ts'
import type { PublishEvent } from '../events/publish-event.ts'
import type { PublishedEvent } from '../events/validate-event.ts'
import { isShortName, readJson } from './body.ts'
import { type Authenticate, namedOrganization, theirOrganization } from './caller.ts'

export type EventParts = { reader: Db; authenticate: Authenticate; publish: PublishEvent }

/** The number of takers is part of the key, so the cache does not name an installation that takes events now. */
type SkippedQuery = { organizationId: string; event: PublishedEvent; takers: number }

/** Publishing events. */
export function addEventRoutes(router: Router, { reader, authenticate, publish }: EventParts): void {
  const organizations = cacheReads({ keyOf: String, read: (id: string) => findOrganization(reader, id) })
  const skipped = cacheReads({
    keyOf: ({ organizationId, event, takers }: SkippedQuery) =>
      `${organizationId} ${event.type} ${eventTarget(event).id} ${takers}`,
    read: ({ organizationId, event }) => explainSkipped(reader, organizationId, event),
  })
  /**
   * Publishes an event of the organization (spec 2.5), of at most 256 KiB, without `installationId`; `eventId` is optional.
   * 202 when it is stored: `installations` counts the scripts that take it, `waiting` has the ids of installations that take
   * it after a resume, `skipped` up to 20 that do not take it, and why. 200 with `duplicate: true` when an event with that
   * `eventId` was published before. 422 with a detail for each wrong field; 413 when it is too large.
   */
  router.post('/v1/events', async (context) => {
    const caller = await authenticate(context)
    const { id } = await theirOrganization(organizations.get, caller, namedOrganization(context))
    const body = await withPlaceIds(reader, id, await readJson(context))
    const receipt = await publish(id, body)
    context.status = receipt.duplicate ? 200 : 202
    // `publish` has validated it.
    const event = body as PublishedEvent
    const takers = receipt.installations
    const passedOver = receipt.duplicate ? [] : await skipped.get({ organizationId: id, event, takers })
    context.body = passedOver.length === 0 ? receipt : { ...receipt, skipped: passedOver }
  })
}

/** Replaces the slugs of a site and a space by their ids. Other names stay: validation refuses them. */
async function withPlaceIds(db: Db, organizationId: string, event: unknown): Promise<unknown> {
  if (typeof event !== 'object' || event === null) return event
  const ids: Record<string, string> = {}
  for (const kind of ['site', 'space'] as const) {
    const name = (event as Record<string, unknown>)[`${kind}Id`]
    if (typeof name !== 'string' || !isShortName(name)) continue
    const place = await findPlace(db, kind, organizationId, name)
    if (place !== undefined) ids[`${kind}Id`] = place.id
  }
  return Object.keys(ids).length === 0 ? event : { ...event, ...ids }
}
