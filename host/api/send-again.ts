import type Router from '@koa/router'
import { nowOf } from '../db/database-clock.ts'
import type { Db } from '../db/db.ts'
import { findListedDelivery } from '../db/queries/list-deliveries.ts'
import { countFailed, type FailedFilter } from '../db/queries/send-again.ts'
import { mostOfRequest, sendFailed, sendNow } from '../webhooks/send-again.ts'
import { jsonBody } from './body.ts'
import type { Authenticate } from './caller.ts'
import { openDelivery, toDeliveryView } from './deliveries.ts'
import { closedSignal, ownOf, timeOf } from './list-query.ts'

const defaultPerSecond = 10

type FailedBody = {
  since: string
  until?: string
  receiver?: string
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
}

/** Sends deliveries again. */
export function addSendAgainRoutes(router: Router, parts: SendAgainParts): void {
  const { db, longReader, authenticate, wake } = parts

  /**
   * Sends one delivery now: 202 with the pending delivery. A delivery that waits for its next attempt is due at once, also
   * before `Retry-After` is over. A failed or delivered one begins a new round of the schedule; its attempts keep counting.
   * 409 while it is being sent, and when its receiver is paused or disabled.
   */
  router.post('/v1/deliveries/:id/send', async (context) => {
    const { id, receiverId } = await openDelivery(parts, context)
    await sendNow(db, { id, receiverId })
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
      receiver: text,
      installation: text,
      eventType: text,
      perSecond: { type: 'number', minimum: 0.1, maximum: 1_000 },
      dryRun: { type: 'boolean' },
    },
  })
  /**
   * Sends deliveries again that failed from `since` (a time) until now: those created before `until`, to that
   * `receiver`, of that `installation` and `eventType`. Deliveries to a disabled receiver are left out,
   * and counted as `disabled`.
   *
   * `perSecond` of them come due each second (0.1 to 1,000; default 10). `dryRun`, or nothing to send: 200 with the
   * counts. Else 202 with `count` and `seconds`, once they are stored. Of more than 100,000 the rest is `left` for the
   * next request. A client that leaves early stops it after the batch in hand.
   */
  router.post('/v1/deliveries/send-failed', async (context) => {
    const own = ownOf(await authenticate(context))
    const { dryRun = false, perSecond = defaultPerSecond, ...body } = await failedBody(context)
    // Later failures are left out, so that the request ends.
    const filter = { ...own, ...toFilter(body), upToMs: nowOf(db) }
    const counted = await countFailed(longReader, filter)
    if (dryRun || counted.count === 0) {
      context.body = { dryRun, ...counted }
      return
    }
    const count = await sendFailed(parts, { filter, perSecond, wake }, closedSignal(context))
    context.status = 202
    const left = count < mostOfRequest ? 0 : counted.count - count
    const seconds = Math.ceil(count / perSecond)
    context.body = { dryRun, ...counted, count, ...(left > 0 && { left }), seconds }
  })
}

function toFilter({
  since,
  until,
  receiver,
  installation,
  eventType,
}: FailedBody): Omit<FailedFilter, 'upToMs'> {
  return {
    sinceMs: timeOf('since', since),
    ...(until !== undefined && { beforeMs: timeOf('until', until) }),
    ...(receiver !== undefined && { receiverId: receiver }),
    ...(installation !== undefined && { installationId: installation }),
    ...(eventType !== undefined && { eventType }),
  }
}
