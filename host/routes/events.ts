import type Router from '@koa/router'
import { findOrganization } from '../db/queries/records/organizations.ts'
import { namedOrganization, theirOrganization } from '../http/caller.ts'
import { readJson } from '../http/read-body.ts'
import { keepReadings } from '../keep-readings.ts'
import type { RouteParts } from './parts.ts'

/** Taking events in. */
export function addEventRoutes(router: Router, { reader, authenticate, publish }: RouteParts): void {
  const read = (id: string) => findOrganization(reader, id)
  const organizations = keepReadings({ keyOf: String, read })
  /**
   * Publishes an event of the organization (spec 2.5; without `installationId`, and `eventId` may be left to
   * Annex). 202 when it is stored for `installations` scripts, and waits for the resume of those in `waiting`; 200 with `duplicate: true` when an event
   * with that `eventId` was published before; 422 with a detail for each wrong field; 413 for one that is too large.
   */
  router.post('/v1/events', async (context) => {
    const caller = await authenticate(context)
    const { id } = await theirOrganization(organizations.get, caller, namedOrganization(context))
    const receipt = await publish(id, await readJson(context))
    context.status = receipt.duplicate ? 200 : 202
    context.body = receipt
  })
}
