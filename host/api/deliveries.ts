import type Router from '@koa/router'
import type { Context } from 'koa'
import type { Db } from '../db/db.ts'
import { findSome } from '../db/looks/find-some.ts'
import type { Look } from '../db/looks/window.ts'
import { listAttempts } from '../db/queries/attempts.ts'
import { findBody } from '../db/queries/deliveries.ts'
import { findInstallation } from '../db/queries/installed/installations.ts'
import {
  findListedDelivery,
  type ListedDelivery,
  lookForDeliveries,
} from '../db/queries/operating/list-deliveries.ts'
import { AnnexError } from '../errors/annex-error.ts'
import { type Authenticate, assertPerson } from './caller.ts'
import { filterOf } from './delivery-query.ts'
import { toAttemptView, toDeliveryView } from './delivery-view.ts'
import { askerOf, limitOf, toPage } from './list-query.ts'

export type DeliveryParts = { db: Db; longReader: Db; authenticate: Authenticate }

/** What was sent, and what became of it. */
export function addDeliveryRoutes(router: Router, parts: DeliveryParts): void {
  const { db, longReader, authenticate } = parts

  /**
   * The newest first. Filters: `installation`, `endpoint`, `event`, `eventType`, `state`, `after` and `before` (times of
   * when it was owed), `limit` (to 200). With `next`, send its `before` in place of yours for the next page.
   */
  router.get('/v1/deliveries', async (context) => {
    const { before, ...filter } = filterOf(await authenticate(context), context.query)
    const limit = limitOf(context.query)
    const look = (here: Look) => lookForDeliveries(longReader, filter, here)
    const items = await findSome(longReader, askerOf(context, filter), { place: before, limit }, look)
    context.body = toPage(items, limit, toDeliveryView)
  })

  /** One delivery with its body and every attempt. */
  router.get('/v1/deliveries/:id', async (context) => {
    const delivery = await openDelivery(parts, context)
    const attempts = await listAttempts(db, delivery.id)
    context.body = {
      ...toDeliveryView(delivery),
      body: await findBody(db, delivery.bodyId),
      attemptList: attempts.map(toAttemptView),
    }
  })
}

/**
 * The delivery that a path names by `:id`, when whoever calls may see it.
 *
 * @throws AnnexError `unauthorized`, `forbidden`, `not_found`
 */
export async function openDelivery(
  { db, authenticate }: Pick<DeliveryParts, 'db' | 'authenticate'>,
  context: Context,
): Promise<ListedDelivery> {
  const caller = await authenticate(context)
  assertPerson(caller)
  const { id } = context.params
  const delivery = await findListedDelivery(db, String(id))
  const installation = delivery && (await findInstallation(db, delivery.installationId))
  const isTheirs = caller.kind === 'operator' || installation?.organizationId === caller.organizationId
  if (delivery !== undefined && isTheirs) return delivery
  throw new AnnexError('not_found', `There is no delivery ${id} that this token may see.`)
}
