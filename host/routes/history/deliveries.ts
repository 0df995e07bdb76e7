import type Router from '@koa/router'
import { type AttemptRow, listAttempts } from '../../db/queries/attempts.ts'
import {
  type Delivery,
  type DeliveryState,
  findDelivery,
  listDeliveries,
} from '../../db/queries/deliveries.ts'
import { findInstallation } from '../../db/queries/installations.ts'
import { AnnexError } from '../../errors/annex-error.ts'
import { assertPerson } from '../../http/caller.ts'
import type { RouteParts } from '../parts.ts'
import { limitOf, ownOf, texts } from './list-query.ts'

const states: readonly string[] = ['owed', 'delivered', 'failed'] satisfies DeliveryState[]

/** What was sent, and what became of it. */
export function addDeliveryRoutes(router: Router, { db, authenticate }: RouteParts): void {
  /** The newest first. Filters: `installation`, `event`, `state`, `before` (a delivery's id), `limit` (to 200). */
  router.get('/v1/deliveries', async (context) => {
    const caller = await authenticate(context)
    const { installation, event, state, before } = texts(context.query)
    if (state !== undefined && !states.includes(state)) {
      throw new AnnexError('bad_request', `state is one of ${states.join(', ')}, not "${state}".`)
    }
    const limit = limitOf(context.query)
    const items = await listDeliveries(db, {
      ...ownOf(caller),
      ...(installation !== undefined && { installationId: installation }),
      ...(event !== undefined && { eventId: event }),
      ...(state !== undefined && { state: state as DeliveryState }),
      ...(before !== undefined && { before }),
      limit,
    })
    const last = items.at(-1)
    context.body = {
      items: items.map(toView),
      ...(items.length === limit && last !== undefined && { next: { before: last.id } }),
      count: items.length,
    }
  })

  /** One delivery with its body and every attempt. */
  router.get('/v1/deliveries/:id', async (context) => {
    const caller = await authenticate(context)
    assertPerson(caller)
    const delivery = await findDelivery(db, String(context.params.id))
    const installation = delivery && (await findInstallation(db, delivery.installationId))
    const isTheirs = caller.kind === 'operator' || installation?.organizationId === caller.organizationId
    if (delivery === undefined || !isTheirs) {
      throw new AnnexError('not_found', `There is no delivery ${context.params.id} that this token may see.`)
    }
    const attempts = await listAttempts(db, delivery.id)
    context.body = { ...toView(delivery), body: delivery.body, attemptList: attempts.map(toAttemptView) }
  })
}

function toView(delivery: Delivery): object {
  const { id, eventId, eventType, installationId, signedBy, url, state, reason, attempts } = delivery
  return {
    object: 'delivery',
    id,
    state,
    ...(reason !== null && { reason }),
    event: { id: eventId, type: eventType },
    installation: installationId,
    signedBy,
    url,
    attempts,
    createdAt: new Date(delivery.createdAt).toISOString(),
    ...(delivery.finishedAt !== null && { finishedAt: new Date(delivery.finishedAt).toISOString() }),
  }
}

function toAttemptView(attempt: AttemptRow): object {
  const { id, number, startedAt, durationMs, outcome, status, errorCode, errorMessage, responseBody } =
    attempt
  return {
    object: 'attempt',
    id,
    number,
    outcome,
    startedAt: new Date(startedAt).toISOString(),
    durationMs,
    request: { headers: JSON.parse(attempt.requestHeaders) },
    ...(status !== null && {
      response: { status, headers: JSON.parse(attempt.responseHeaders ?? '[]'), body: responseBody ?? '' },
    }),
    ...(errorCode !== null && { error: { code: errorCode, message: errorMessage } }),
  }
}
