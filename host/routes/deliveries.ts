import type { ParsedUrlQuery } from 'node:querystring'
import type Router from '@koa/router'
import type { Caller } from '../access/tokens.ts'
import {
  type AttemptRow,
  type Delivery,
  type DeliveryState,
  findDelivery,
  listAttempts,
  listDeliveries,
} from '../db/queries/deliveries.ts'
import { findInstallation } from '../db/queries/installations.ts'
import { type LogRow, listLogs } from '../db/queries/logs.ts'
import { AnnexError } from '../errors/annex-error.ts'
import { assertPerson } from '../http/caller.ts'
import type { RouteParts } from './parts.ts'

const states: readonly string[] = ['owed', 'delivered', 'failed'] satisfies DeliveryState[]
const maxItems = 200

/** What was sent, what became of it, and what scripts logged. */
export function addDeliveryRoutes(router: Router, { db, authenticate, logs }: RouteParts): void {
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

  /** Oldest first: the newest lines, or those after the line `after`. Filters: `integration`, `installation`, `request`. */
  router.get('/v1/logs', async (context) => {
    const caller = await authenticate(context)
    const { integration, installation, request, after } = texts(context.query)
    // What was logged a moment ago is asked for now, by the request id of an answer just read.
    await logs.flush()
    const items = await listLogs(db, {
      ...ownOf(caller),
      ...(integration !== undefined && { integration }),
      ...(installation !== undefined && { installationId: installation }),
      ...(request !== undefined && { requestId: request }),
      ...(after !== undefined && { after: Number(after) || 0 }),
      limit: limitOf(context.query),
    })
    context.body = { items: items.map(toLogView), count: items.length }
  })
}

/** Operators see all; members what belongs to their organization. */
function ownOf(caller: Caller): { organizationId?: string } {
  assertPerson(caller)
  return caller.kind === 'operator' ? {} : { organizationId: caller.organizationId }
}

function texts(query: ParsedUrlQuery): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(query).filter((entry) => typeof entry[1] === 'string')) as Record<
    string,
    string
  >
}

/** @throws AnnexError `bad_request` */
function limitOf(query: ParsedUrlQuery): number {
  const given = query.limit ?? '50'
  const limit = typeof given === 'string' && /^\d{1,3}$/.test(given) ? Number(given) : 0
  if (limit >= 1 && limit <= maxItems) return limit
  throw new AnnexError('bad_request', `limit is a whole number from 1 to ${maxItems}, not "${given}".`)
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

function toLogView({ id, at, integration, installationId, requestId, level, text }: LogRow): object {
  return {
    id,
    at: new Date(at).toISOString(),
    level,
    integration,
    ...(installationId !== null && { installation: installationId }),
    ...(requestId !== null && { request: requestId }),
    text,
  }
}
