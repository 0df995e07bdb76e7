import type Router from '@koa/router'
import { findListedDelivery } from '../../db/queries/operating/list-deliveries.ts'
import { countFailed, type FailedFilter } from '../../db/queries/operating/send-again.ts'
import { jsonBody } from '../../http/read-body.ts'
import { sendAgain, sendFailed } from '../../webhooks/operating/send-again.ts'
import { ownOf, timeOf } from '../history/list-query.ts'
import type { RouteParts } from '../parts.ts'
import { openDelivery } from './deliveries.ts'
import { toDeliveryView } from './delivery-view.ts'

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

/** Sending again what was delivered, or has failed. */
export function addSendAgainRoutes(router: Router, parts: RouteParts): void {
  const { db, authenticate, wake } = parts

  /**
   * Sends one delivery again, a delivered one too: 202 with the delivery, owed. It begins a new round of the schedule;
   * its attempts are counted on. 409 while it is owed, or when its endpoint is disabled.
   */
  router.post('/v1/deliveries/:id/send', async (context) => {
    const { id, endpointId } = await openDelivery(parts, context)
    await sendAgain(db, { id, endpointId })
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
   * Sends again what has failed from `since` on (a time), of deliveries that were owed first before `until`, to that
   * `endpoint`, of that `installation` and `eventType`. `dryRun`: 200 with how many that would be. Else 202 with how many
   * are owed again: the first attempts are spread, `perSecond` of them (default 10). What its endpoint is disabled for
   * is left out, and counted as `disabled`.
   */
  router.post('/v1/deliveries/send-failed', async (context) => {
    const own = ownOf(await authenticate(context))
    const { dryRun = false, perSecond = defaultPerSecond, ...body } = await failedBody(context)
    const filter: FailedFilter = { ...own, ...toFilter(body) }
    const { count, disabled } = await countFailed(db, filter)
    if (dryRun) {
      context.body = { dryRun, count, disabled }
      return
    }
    const owed = await sendFailed(db, filter, perSecond, wake)
    context.status = 202
    context.body = { dryRun, count: owed, disabled, seconds: Math.ceil(owed / perSecond) }
  })
}

function toFilter({ since, until, endpoint, installation, eventType }: FailedBody): FailedFilter {
  return {
    sinceMs: timeOf('since', since),
    ...(until !== undefined && { beforeMs: timeOf('until', until) }),
    ...(endpoint !== undefined && { endpointId: endpoint }),
    ...(installation !== undefined && { installationId: installation }),
    ...(eventType !== undefined && { eventType }),
  }
}
