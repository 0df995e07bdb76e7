import type Router from '@koa/router'
import type { Context } from 'koa'
import type { Db } from '../db/db.ts'
import { findResend, listResends, type Resend, stopResend } from '../db/queries/operating/resends.ts'
import { AnnexError } from '../errors/annex-error.ts'
import type { Authenticate } from './caller.ts'
import { idIn, limitOf, ownOf, texts, toIso, toPage } from './list-query.ts'

export type ResendParts = { db: Db; authenticate: Authenticate }

/** Failed deliveries that are sent again together (`POST /v1/deliveries/send-failed`), and how far that is. */
export function addResendRoutes(router: Router, { db, authenticate }: ResendParts): void {
  /** The newest first; an operator sees all, others their organization's. `limit` (to 200), `before` (a resend's id). */
  router.get('/v1/resends', async (context) => {
    const own = ownOf(await authenticate(context))
    const places = texts(context.query, ['before'])
    const limit = limitOf(context.query)
    const items = await listResends(db, own, { ...idIn(places, 'rsd'), limit })
    context.body = toPage(items, limit, toView)
  })

  /** One resend: `sent` of `count` deliveries are owed again by now. */
  router.get('/v1/resends/:id', async (context) => {
    context.body = toView(await open(context))
  })

  /** Ends it: what is owed again by now is sent, within ten seconds of deliveries, and no more. 409 when it is over. */
  router.post('/v1/resends/:id/stop', async (context) => {
    const { id, state } = await open(context)
    if (!(await stopResend(db, id))) throw new AnnexError('conflict', `The resend ${id} is ${state} already.`)
    context.body = toView(await open(context))
  })

  async function open(context: Context): Promise<Resend> {
    const { id } = context.params
    const resend = await findResend(db, String(id), ownOf(await authenticate(context)))
    if (resend !== undefined) return resend
    throw new AnnexError('not_found', `There is no resend ${id} that this token may see.`)
  }
}

function toView({ id, filter, perSecond, state, count, sent, createdAt, finishedAt }: Resend): object {
  const { sinceMs, beforeMs, endpointId, installationId, eventType } = filter
  return {
    object: 'resend',
    id,
    state,
    since: toIso(sinceMs),
    ...(beforeMs !== undefined && { until: toIso(beforeMs) }),
    ...(endpointId !== undefined && { endpoint: endpointId }),
    ...(installationId !== undefined && { installation: installationId }),
    ...(eventType !== undefined && { eventType }),
    perSecond,
    count,
    sent,
    createdAt: toIso(createdAt),
    ...(finishedAt !== null && { finishedAt: toIso(finishedAt) }),
  }
}
