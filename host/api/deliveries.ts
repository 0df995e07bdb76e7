import type { ParsedUrlQuery } from 'node:querystring'
import type Router from '@koa/router'
import type { Context } from 'koa'
import type { Caller } from '../access/tokens.ts'
import type { Db } from '../db/db.ts'
import { type AttemptRow, listAttempts } from '../db/queries/attempts.ts'
import { type DeliveryState, findBody } from '../db/queries/deliveries.ts'
import { findInstallation } from '../db/queries/installations.ts'
import {
  type DeliveryFilter,
  findListedDelivery,
  type ListedDelivery,
  listDeliveries,
} from '../db/queries/list-deliveries.ts'
import { AnnexError } from '../errors.ts'
import { type Authenticate, assertPerson } from './caller.ts'
import { idIn, limitOf, oneOf, ownOf, texts, timeOf, toIso, toPage } from './list-query.ts'

export type DeliveryParts = { db: Db; longReader: Db; authenticate: Authenticate }

/** Deliveries and their attempts. */
export function addDeliveryRoutes(router: Router, parts: DeliveryParts): void {
  const { db, longReader, authenticate } = parts

  /**
   * Lists deliveries, the newest first. Filters: `installation`, `receiver`, `event`, `eventType`, `state`, `after` and
   * `before` (times of creation), `limit` (to 200). For the next page, replace `before` by that of `next`. 400 for others.
   */
  router.get('/v1/deliveries', async (context) => {
    const { before, ...filter } = filterOf(await authenticate(context), context.query)
    const limit = limitOf(context.query)
    const items = await listDeliveries(longReader, filter, { before, limit })
    context.body = toPage(items, limit, toDeliveryView)
  })

  /** One delivery with its body and all attempts. 404 when the caller may not see it. */
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
 * Finds the delivery that a path names by `:id`.
 *
 * @throws AnnexError `unauthorized`; `forbidden` for a script; `not_found`, also when the caller may not see it
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

const names = ['installation', 'receiver', 'event', 'eventType', 'state', 'before', 'after'] as const
const states = ['pending', 'delivered', 'failed'] as const satisfies DeliveryState[]

/**
 * Reads the filters of a query, limited to the deliveries that the caller may see. `before` is a time, or the id of a
 * delivery, where the next page begins.
 *
 * @throws AnnexError `bad_request`; `forbidden` for a script
 */
export function filterOf(caller: Caller, query: ParsedUrlQuery): DeliveryFilter & { before?: string } {
  const { installation, receiver, event, eventType, state, before, after } = texts(query, names)
  const isPlace = before?.startsWith('dlv_')
  return {
    ...ownOf(caller),
    ...(installation !== undefined && { installationId: installation }),
    ...(receiver !== undefined && { receiverId: receiver }),
    ...(event !== undefined && { eventId: event }),
    ...(eventType !== undefined && { eventType }),
    ...(state !== undefined && { state: oneOf('state', state, states) }),
    ...(after !== undefined && { afterMs: timeOf('after', after) }),
    ...(before !== undefined && (isPlace ? idIn({ before }, 'dlv') : { beforeMs: timeOf('before', before) })),
  }
}

/** A delivery as the API shows it. `nextAttemptAt` is present while the delivery is pending and has a due time. */
export function toDeliveryView(delivery: ListedDelivery): object {
  const { id, eventId, eventType, installationId, receiverId, signedBy, url, state, reason } = delivery
  const { attempts, createdAt, nextAttemptAt, finishedAt } = delivery
  return {
    object: 'delivery',
    id,
    state,
    ...(reason !== null && { reason }),
    event: { id: eventId, type: eventType },
    installation: installationId,
    receiver: receiverId,
    signedBy,
    url,
    attempts,
    createdAt: toIso(createdAt),
    ...(nextAttemptAt !== null && { nextAttemptAt: toIso(nextAttemptAt) }),
    ...(finishedAt !== null && { finishedAt: toIso(finishedAt) }),
  }
}

/**
 * An attempt as the API shows it. `timing` has `dnsMs`, `connectMs`, `tlsMs` and `firstByteMs` of the phases that it reached.
 * `response.body` is the first 4 KiB.
 */
export function toAttemptView(attempt: AttemptRow): object {
  const { id, number, startedAt, durationMs, outcome, status, errorCode, errorMessage } = attempt
  return {
    object: 'attempt',
    id,
    number,
    outcome,
    startedAt: toIso(startedAt),
    durationMs,
    ...(attempt.timing !== null && { timing: JSON.parse(attempt.timing) }),
    request: { headers: JSON.parse(attempt.requestHeaders) },
    ...(status !== null && {
      response: {
        status,
        headers: JSON.parse(attempt.responseHeaders ?? '[]'),
        body: attempt.responseBody ?? '',
      },
    }),
    ...(errorMessage !== null && { error: { code: errorCode ?? outcome, message: errorMessage } }),
  }
}
