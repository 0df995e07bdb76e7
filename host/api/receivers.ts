import type Router from '@koa/router'
import type { Context } from 'koa'
import { type PublishableEventType, publishableEventTypes } from '../../schemas/events.ts'
import { nowOf } from '../db/database-clock.ts'
import type { Db } from '../db/db.ts'
import { listCounts } from '../db/queries/delivery-counts.ts'
import { findInstallation } from '../db/queries/installations.ts'
import { findListedDelivery } from '../db/queries/list-deliveries.ts'
import {
  countPending,
  findReceiver,
  listReceivers,
  type Receiver,
  type ReceiverState,
} from '../db/queries/receivers.ts'
import { AnnexError } from '../errors.ts'
import type { Circuits } from '../queue/fairness.ts'
import type { DeliveryCounts } from '../webhooks/delivery-counts.ts'
import { orderReceiver, pauseReceiver, resumeReceiver, sendExample } from '../webhooks/operate-receiver.ts'
import { jsonBody } from './body.ts'
import { type Authenticate, assertPerson } from './caller.ts'
import { toDeliveryView } from './deliveries.ts'
import { idIn, limitOf, oneOf, ownOf, texts, toIso, toPage } from './list-query.ts'

const shownDays = 30

const states = ['active', 'paused', 'disabled'] as const satisfies ReceiverState[]

export type ReceiverParts = {
  db: Db
  authenticate: Authenticate
  wake: () => void
  counts: DeliveryCounts
  circuits: Circuits
}

/** Receivers of deliveries: their state, pausing, and order. */
export function addReceiverRoutes(
  router: Router,
  { db, authenticate, wake, counts, circuits }: ReceiverParts,
): void {
  /** Lists receivers, the newest first. Filters: `installation`, `state`, `before` (a receiver's id), `limit` (to 200). */
  router.get('/v1/receivers', async (context) => {
    const own = ownOf(await authenticate(context))
    const { installation, state, ...places } = texts(context.query, ['installation', 'state', 'before'])
    const limit = limitOf(context.query)
    const items = await listReceivers(db, {
      ...own,
      ...(installation !== undefined && { installationId: installation }),
      ...(state !== undefined && { state: oneOf('state', state, states) }),
      ...idIn(places, 'rcv'),
      limit,
    })
    context.body = toPage(items, limit, view)
  })

  /**
   * One receiver, with the number of pending deliveries, and counts for its last 30 days (UTC) with deliveries. Pruning keeps
   * these counts.
   */
  router.get('/v1/receivers/:id', async (context) => {
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
  router.patch('/v1/receivers/:id', async (context) => {
    const receiver = await open(context)
    const { ordered } = await changeBody(context)
    if (ordered !== undefined) await orderReceiver(db, receiver, ordered)
    wake()
    await answer(context, receiver)
  })

  const pauseBody = jsonBody<{ reason?: string }>({
    type: 'object',
    additionalProperties: false,
    properties: { reason: { type: 'string', maxLength: 500 } },
  })
  /** `{ reason? }`: pauses a receiver: its deliveries wait. 409 when it is not active. */
  router.post('/v1/receivers/:id/pause', async (context) => {
    const receiver = await open(context)
    const { reason = null } = await pauseBody(context)
    await pauseReceiver(db, receiver, reason)
    await answer(context, receiver)
  })

  /**
   * Lifts a pause, enables a disabled receiver, and closes this host's circuit for it. Waiting deliveries are due. 409 when it
   * is active and its circuit is closed.
   */
  router.post('/v1/receivers/:id/resume', async (context) => {
    const receiver = await open(context)
    const wasOpen = circuits.closeCircuit(receiver.id)
    if (wasOpen && receiver.state === 'active') wake()
    else await resumeReceiver(db, receiver, wake)
    await answer(context, receiver)
  })

  const exampleBody = jsonBody<{ type?: PublishableEventType }>({
    type: 'object',
    additionalProperties: false,
    properties: { type: { enum: publishableEventTypes } },
  })
  /**
   * `{ type? }`: sends an example event (default: `space_content_updated` to a space's receiver, else `site_view`) with
   * made-up fields and `"example": true`, signed as any other. 202 with its delivery. 409 when the receiver is disabled.
   */
  router.post('/v1/receivers/:id/example', async (context) => {
    const receiver = await open(context)
    const { type } = await exampleBody(context)
    const delivery = await findListedDelivery(db, await sendExample(db, receiver, type))
    wake()
    context.status = 202
    if (delivery !== undefined) context.body = toDeliveryView(delivery)
  })

  /** The state of the circuit is this host's own. */
  function view(receiver: Receiver): object {
    const until = receiver.state === 'active' ? circuits.heldBackUntil(receiver.id, nowOf(db)) : undefined
    return { ...toView(receiver), ...(until !== undefined && { heldBackUntil: toIso(until) }) }
  }

  async function open(context: Context): Promise<Receiver> {
    const caller = await authenticate(context)
    assertPerson(caller)
    const { id } = context.params
    const receiver = await findReceiver(db, String(id))
    const installation = receiver && (await findInstallation(db, receiver.installationId))
    const isTheirs = caller.kind === 'operator' || installation?.organizationId === caller.organizationId
    if (receiver !== undefined && isTheirs) return receiver
    throw new AnnexError('not_found', `There is no receiver ${id} that this token may see.`)
  }

  async function answer(context: Context, { id }: Receiver): Promise<void> {
    const receiver = await findReceiver(db, id)
    if (receiver === undefined) throw new AnnexError('not_found', `There is no receiver ${id} any more.`)
    // Counts of the last second are stored first.
    await counts.flush()
    const days = await listCounts(db, id, shownDays)
    context.body = {
      ...view(receiver),
      pending: await countPending(db, id),
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
}: Receiver): object {
  return {
    object: 'receiver',
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
