import type Router from '@koa/router'
import type { Context } from 'koa'
import { type PublishableEventType, publishableEventTypes } from '../../schemas/events.ts'
import { nowOf } from '../db/database-clock.ts'
import type { Db } from '../db/db.ts'
import { listCounts } from '../db/queries/delivery-counts.ts'
import {
  countPending,
  type Endpoint,
  type EndpointState,
  findEndpoint,
  listEndpoints,
} from '../db/queries/endpoints.ts'
import { findInstallation } from '../db/queries/installed/installations.ts'
import { findListedDelivery } from '../db/queries/list-deliveries.ts'
import { AnnexError } from '../errors/annex-error.ts'
import type { Circuits } from '../queue/fairness.ts'
import type { DeliveryCounts } from '../webhooks/delivery-counts.ts'
import { orderEndpoint, pauseEndpoint, resumeEndpoint, sendExample } from '../webhooks/operate-endpoint.ts'
import { jsonBody } from './body.ts'
import { type Authenticate, assertPerson } from './caller.ts'
import { toDeliveryView } from './deliveries.ts'
import { idIn, limitOf, oneOf, ownOf, texts, toIso, toPage } from './list-query.ts'

const shownDays = 30

const states = ['active', 'paused', 'disabled'] as const satisfies EndpointState[]

export type ReceiverParts = {
  db: Db
  authenticate: Authenticate
  wake: () => void
  counts: DeliveryCounts
  circuits: Circuits
}

/** Receivers of deliveries: their state, pausing, and order. The API calls them endpoints. */
export function addReceiverRoutes(
  router: Router,
  { db, authenticate, wake, counts, circuits }: ReceiverParts,
): void {
  /** Lists receivers, the newest first. Filters: `installation`, `state`, `before` (a receiver's id), `limit` (to 200). */
  router.get('/v1/endpoints', async (context) => {
    const own = ownOf(await authenticate(context))
    const { installation, state, ...places } = texts(context.query, ['installation', 'state', 'before'])
    const limit = limitOf(context.query)
    const items = await listEndpoints(db, {
      ...own,
      ...(installation !== undefined && { installationId: installation }),
      ...(state !== undefined && { state: oneOf('state', state, states) }),
      ...idIn(places, 'ep'),
      limit,
    })
    context.body = toPage(items, limit, view)
  })

  /**
   * One receiver, with the number of pending deliveries, and counts for its last 30 days (UTC) with deliveries. Pruning keeps
   * these counts.
   */
  router.get('/v1/endpoints/:id', async (context) => {
    await answer(context, await open(context))
  })

  const changeBody = jsonBody<{ ordered?: boolean }>({
    type: 'object',
    additionalProperties: false,
    properties: { ordered: { type: 'boolean' } },
  })
  /**
   * `{ ordered }`: sends one delivery after the other, in the order of creation, pending ones included. A failing delivery
   * then delays all later ones until it is delivered or its schedule ends.
   */
  router.patch('/v1/endpoints/:id', async (context) => {
    const endpoint = await open(context)
    const { ordered } = await changeBody(context)
    if (ordered !== undefined) await orderEndpoint(db, endpoint, ordered)
    wake()
    await answer(context, endpoint)
  })

  const pauseBody = jsonBody<{ reason?: string }>({
    type: 'object',
    additionalProperties: false,
    properties: { reason: { type: 'string', maxLength: 500 } },
  })
  /** `{ reason? }`: pauses a receiver: its deliveries wait. 409 when it is not active. */
  router.post('/v1/endpoints/:id/pause', async (context) => {
    const endpoint = await open(context)
    const { reason = null } = await pauseBody(context)
    await pauseEndpoint(db, endpoint, reason)
    await answer(context, endpoint)
  })

  /**
   * Lifts a pause, enables a disabled receiver, and closes this host's circuit for it. Waiting deliveries are due. 409 when it
   * is active and its circuit is closed.
   */
  router.post('/v1/endpoints/:id/resume', async (context) => {
    const endpoint = await open(context)
    const wasOpen = circuits.closeCircuit(endpoint.id)
    if (wasOpen && endpoint.state === 'active') wake()
    else await resumeEndpoint(db, endpoint, wake)
    await answer(context, endpoint)
  })

  const exampleBody = jsonBody<{ type?: PublishableEventType }>({
    type: 'object',
    additionalProperties: false,
    properties: { type: { enum: publishableEventTypes } },
  })
  /**
   * `{ type? }`: sends an example event (default: `space_content_updated` to a space's receiver, else `site_view`) with
   * made-up fields and `"example": true`, signed as any other. 202 with its delivery. 409 when the receiver is disabled, or its
   * installation moves.
   */
  router.post('/v1/endpoints/:id/example', async (context) => {
    const endpoint = await open(context)
    const { type } = await exampleBody(context)
    const delivery = await findListedDelivery(db, await sendExample(db, endpoint, type))
    wake()
    context.status = 202
    if (delivery !== undefined) context.body = toDeliveryView(delivery)
  })

  /** The state of the circuit is this host's own. */
  function view(endpoint: Endpoint): object {
    const until = endpoint.state === 'active' ? circuits.heldBackUntil(endpoint.id, nowOf(db)) : undefined
    return { ...toView(endpoint), ...(until !== undefined && { leftAloneUntil: toIso(until) }) }
  }

  async function open(context: Context): Promise<Endpoint> {
    const caller = await authenticate(context)
    assertPerson(caller)
    const { id } = context.params
    const endpoint = await findEndpoint(db, String(id))
    const installation = endpoint && (await findInstallation(db, endpoint.installationId))
    const isTheirs = caller.kind === 'operator' || installation?.organizationId === caller.organizationId
    if (endpoint !== undefined && isTheirs) return endpoint
    throw new AnnexError('not_found', `There is no endpoint ${id} that this token may see.`)
  }

  async function answer(context: Context, { id }: Endpoint): Promise<void> {
    const endpoint = await findEndpoint(db, id)
    if (endpoint === undefined) throw new AnnexError('not_found', `There is no endpoint ${id} any more.`)
    // Deliveries that ended just now are counted, too.
    await counts.flush()
    const days = await listCounts(db, id, shownDays)
    context.body = {
      ...view(endpoint),
      owed: await countPending(db, id),
      days: days.map(({ day, ...ofDay }) => ({ day: toIso(day).slice(0, 10), ...ofDay })),
    }
  }
}

function toView({
  id,
  installationId,
  signedBy,
  url,
  state,
  reason,
  failingSince,
  ...more
}: Endpoint): object {
  return {
    object: 'endpoint',
    id,
    state,
    ...(reason !== null && { reason }),
    installation: installationId,
    signedBy,
    url,
    ordered: more.ordered,
    ...(failingSince !== null && { failingSince: toIso(failingSince) }),
    createdAt: toIso(more.createdAt),
    updatedAt: toIso(more.updatedAt),
  }
}
