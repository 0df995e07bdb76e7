import type Router from '@koa/router'
import type { Db } from '../db/db.ts'
import { lineOf } from '../db/looks/turns.ts'
import { findListedDelivery } from '../db/queries/operating/list-deliveries.ts'
import type { FailedFilter } from '../db/queries/operating/send-again.ts'
import { countFailed, startResend, untilNow } from '../webhooks/operating/resend.ts'
import { sendNow } from '../webhooks/operating/send-again.ts'
import { jsonBody } from './body.ts'
import type { Authenticate } from './caller.ts'
import { openDelivery, toDeliveryView } from './deliveries.ts'
import { askerOf, ownOf, timeOf } from './list-query.ts'

const defaultPerSecond = 10

type FailedBody = {
  since: string
  until?: string
  endpoint?: string
  installation?: string
  eventType?: string
  perSecond?: number
  dryRun?: boolean
}

const text = { type: 'string', maxLength: 200 }

export type SendAgainParts = {
  db: Db
  longReader: Db
  authenticate: Authenticate
  wake: () => void
  wakeResends: () => void
}

/** Sending again what was delivered, or has failed. */
export function addSendAgainRoutes(router: Router, parts: SendAgainParts): void {
  const { db, longReader, authenticate, wake, wakeResends } = parts

  /**
   * Sends one delivery now: 202 with the pending delivery. A delivery that waits for its next attempt is due at once, also
   * before `Retry-After` is over. A failed or delivered one begins a new round of the schedule; its attempts keep counting.
   * 409 while it is being sent, when its receiver is paused or disabled, or while its installation moves.
   */
  router.post('/v1/deliveries/:id/send', async (context) => {
    const { id, endpointId } = await openDelivery(parts, context)
    await sendNow(db, { id, endpointId })
    wake()
    const delivery = await findListedDelivery(db, id)
    context.status = 202
    if (delivery !== undefined) context.body = toDeliveryView(delivery)
  })

  const failedBody = jsonBody<FailedBody>({
    type: 'object',
    additionalProperties: false,
    required: ['since'],
    properties: {
      since: text,
      until: text,
      endpoint: text,
      installation: text,
      eventType: text,
      perSecond: { type: 'number', minimum: 0.1, maximum: 1_000 },
      dryRun: { type: 'boolean' },
    },
  })
  /**
   * Sends again what has failed from `since` (a time) until now, of deliveries that were owed first before `until`, to that
   * `endpoint`, of that `installation` and `eventType`. Deliveries to a disabled endpoint are left out, and counted as
   * `disabled`. `dryRun`, or nothing to send: 200 with the counts. Else 202 with `count`,
   * `seconds`, and the id of the `resend` that does it from now on, `perSecond` of them (0.1 to 1,000; default 10). 409
   * when ten resends of the organization, or of operators, are running.
   */
  router.post('/v1/deliveries/send-failed', async (context) => {
    const own = ownOf(await authenticate(context))
    const { dryRun = false, perSecond = defaultPerSecond, ...body } = await failedBody(context)
    const filter = untilNow(db, { ...own, ...toFilter(body) })
    const asker = dryRun ? askerOf(context, own) : { line: lineOf(own) }
    const counted = await countFailed(longReader, asker, filter)
    const { count } = counted
    if (dryRun || count === 0) {
      context.body = { dryRun, ...counted }
      return
    }
    const resend = await startResend(db, own, { filter, perSecond, count })
    wakeResends()
    context.status = 202
    context.body = { dryRun, ...counted, seconds: Math.ceil(count / perSecond), resend }
  })
}

function toFilter({
  since,
  until,
  endpoint,
  installation,
  eventType,
}: FailedBody): Omit<FailedFilter, 'upToMs'> {
  return {
    sinceMs: timeOf('since', since),
    ...(until !== undefined && { beforeMs: timeOf('until', until) }),
    ...(endpoint !== undefined && { endpointId: endpoint }),
    ...(installation !== undefined && { installationId: installation }),
    ...(eventType !== undefined && { eventType }),
  }
}
