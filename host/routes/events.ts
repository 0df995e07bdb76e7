import type Router from '@koa/router'
import { namedOrganization, organizationOf } from '../http/caller.ts'
import { readJson } from '../http/read-body.ts'
import type { RouteParts } from './parts.ts'

/** Taking events in. */
export function addEventRoutes(router: Router, { db, authenticate, publish }: RouteParts): void {
  /**
   * Publishes an event of the organization (spec 2.5; without `installationId`, and `eventId` may be left to
   * Annex). 202 when it is stored and owed to `installations` scripts; 200 with `duplicate: true` when an event
   * with that `eventId` was published before; 422 with a detail for each wrong field.
   */
  router.post('/v1/events', async (context) => {
    const caller = await authenticate(context)
    const { id } = await organizationOf(db, caller, namedOrganization(context))
    const receipt = await publish(id, await readJson(context))
    context.status = receipt.duplicate ? 200 : 202
    context.body = receipt
  })
}
