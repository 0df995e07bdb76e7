import type Router from '@koa/router'
import { cacheReads } from '../cache.ts'
import { isShortName } from '../config/short-name.ts'
import type { Db } from '../db/db.ts'
import { findPlace } from '../db/queries/records/named-places.ts'
import { findOrganization } from '../db/queries/records/organizations.ts'
import { eventTarget, explainSkipped } from '../events/match-installations.ts'
import type { PublishedEvent } from '../events/validate-event.ts'
import { readJson } from './body.ts'
import { namedOrganization, theirOrganization } from './caller.ts'
import type { RouteParts } from './parts.ts'

/** `takers`: an installation that takes events now is named no longer. */
type Happened = { organizationId: string; event: PublishedEvent; takers: number }

/** Taking events in. */
export function addEventRoutes(router: Router, { reader, authenticate, publish }: RouteParts): void {
  const read = (id: string) => findOrganization(reader, id)
  const organizations = cacheReads({ keyOf: String, read })
  const skipped = cacheReads({
    keyOf: ({ organizationId, event, takers }: Happened) =>
      `${organizationId} ${event.type} ${eventTarget(event).id} ${takers}`,
    read: ({ organizationId, event }) => explainSkipped(reader, organizationId, event),
  })
  /**
   * Publishes an event of the organization (spec 2.5; without `installationId`, and `eventId` may be left to
   * Annex). 202 when it is stored for `installations` scripts, and waits for the resume of those in `waiting`; `skipped` names
   * up to 20 installations that would have taken it, and why they did not. 200 with `duplicate: true` when an event with that
   * `eventId` was published before; 422 with a detail for each wrong field; 413 for one that is too large.
   */
  router.post('/v1/events', async (context) => {
    const caller = await authenticate(context)
    const { id } = await theirOrganization(organizations.get, caller, namedOrganization(context))
    const body = await withPlaceIds(reader, id, await readJson(context))
    const receipt = await publish(id, body)
    context.status = receipt.duplicate ? 200 : 202
    // It was stored: it is one.
    const event = body as PublishedEvent
    const takers = receipt.installations
    const passedBy = receipt.duplicate ? [] : await skipped.get({ organizationId: id, event, takers })
    context.body = passedBy.length === 0 ? receipt : { ...receipt, skipped: passedBy }
  })
}

/** The event with the ids of a site and a space that it names by their slugs. A name that is no slug is left to the checks. */
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
