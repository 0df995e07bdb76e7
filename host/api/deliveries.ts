import type { Attempt, Delivery } from '../../schemas/generated/api/deliveries.ts'
import type { Db } from '../db/db.ts'
import { type AttemptRow, listAttempts } from '../db/queries/attempts.ts'
import { findBody } from '../db/queries/deliveries.ts'
import { findInstallation } from '../db/queries/installations.ts'
import {
  type DeliveryFilter,
  findListedDelivery,
  type ListedDelivery,
  listDeliveries,
} from '../db/queries/list-deliveries.ts'
import { AnnexError } from '../errors.ts'
import { mayOpen, ownerOf, type Person } from './caller.ts'
import { idCursor, listPage, retentionOf, timeOf, toIso } from './list-query.ts'
import type { OnOperation, OperationRequest } from './operations.ts'

type DeliveryParts = { db: Db; longReader: Db; settings: { RETENTION_DAYS: number } }

/** Deliveries and their attempts. */
export function addDeliveryRoutes(on: OnOperation, { db, longReader, settings }: DeliveryParts): void {
  on('GET /v1/deliveries', async (request) => {
    const filter = await filterOf(db, request.caller, request.query)
    const page = await listPage(request, {
      cursor: idCursor('dlv'),
      read: ({ after, limit }) => listDeliveries(longReader, filter, { before: after, limit }),
      cursorOf: ({ id }) => id,
      toView: toDelivery,
    })
    return { ...page, ...retentionOf(settings) }
  })

  on('GET /v1/deliveries/{delivery}', async ({ caller, params }) => {
    const delivery = await openDelivery(db, caller, params.delivery)
    const attempts = await listAttempts(db, delivery.id)
    const body = await findBody(db, delivery.bodyId)
    return {
      ...toDelivery(delivery),
      ...(body !== undefined && { body }),
      attemptList: attempts.map(toAttempt),
    }
  })
}

/** @throws AnnexError `not_found`, also when the caller may not see it */
export async function openDelivery(db: Db, caller: Person, id: string): Promise<ListedDelivery> {
  const delivery = await findListedDelivery(db, id)
  const installation = delivery && (await findInstallation(db, delivery.installationId))
  if (delivery !== undefined && mayOpen(caller, installation?.organizationId)) return delivery
  throw new AnnexError('not_found', `There is no delivery ${id} that you may see.`)
}

/**
 * Reads the filters of a query, limited to the deliveries that the caller may see.
 *
 * @throws AnnexError `bad_request`, `not_found`
 */
export async function filterOf(
  db: Db,
  caller: Person,
  query: Omit<OperationRequest<'GET /v1/deliveries'>['query'], 'limit'>,
): Promise<DeliveryFilter> {
  const { organization, installation, receiver, event, eventType, request, state, before, after } = query
  return {
    ...(await ownerOf(db, caller, organization)),
    ...(installation !== undefined && { installationId: installation }),
    ...(receiver !== undefined && { receiverId: receiver }),
    ...(event !== undefined && { eventId: event }),
    ...(eventType !== undefined && { eventType }),
    ...(request !== undefined && { requestId: request }),
    ...(state !== undefined && { state }),
    ...(after !== undefined && { sinceMs: timeOf('after', after) }),
    ...(before !== undefined && { untilMs: timeOf('before', before) }),
  }
}

/** A delivery as the API shows it. `nextAttemptAt` is present while the delivery is pending and has a due time. */
export function toDelivery(delivery: ListedDelivery): Delivery {
  const { id, eventId, eventType, installationId, receiverId, signedBy, url, state, reason } = delivery
  const { attempts, createdAt, nextAttemptAt, finishedAt, requestId } = delivery
  return {
    object: 'delivery',
    id,
    state,
    ...(reason !== null && { reason }),
    event: { id: eventId, type: eventType },
    ...(requestId !== null && { request: requestId }),
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
export function toAttempt(attempt: AttemptRow): Attempt {
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
