import type { FailedToSend } from '../../schemas/generated/api/deliveries.ts'
import { nowOf } from '../db/database-clock.ts'
import type { Db } from '../db/db.ts'
import { findListedDelivery } from '../db/queries/list-deliveries.ts'
import { countFailed, type FailedFilter } from '../db/queries/send-again.ts'
import { mostOfRequest, sendFailed, sendNow } from '../webhooks/send-again.ts'
import { openDelivery, toDelivery } from './deliveries.ts'
import { closedSignal, ownOf, timeOf } from './list-query.ts'
import type { OnOperation } from './operations.ts'

const defaultPerSecond = 10

export type SendAgainParts = { db: Db; longReader: Db; wake: () => void }

/** Sends deliveries again. */
export function addSendAgainRoutes(on: OnOperation, parts: SendAgainParts): void {
  const { db, longReader, wake } = parts

  on('sendDelivery', async ({ caller, params }) => {
    const delivery = await openDelivery(db, caller, params.delivery)
    await sendNow(db, delivery)
    wake()
    return toDelivery((await findListedDelivery(db, delivery.id)) ?? delivery)
  })

  on('sendFailedDeliveries', async ({ caller, body, context }) => {
    const { dryRun = false, perSecond = defaultPerSecond } = body
    // Later failures are left out, so that the request ends.
    const filter = { ...ownOf(caller), ...toFilter(body), upToMs: nowOf(db) }
    const counted = await countFailed(longReader, filter)
    if (dryRun || counted.count === 0) {
      context.status = 200
      return { dryRun, ...counted }
    }
    const count = await sendFailed(parts, { filter, perSecond, wake }, closedSignal(context))
    const left = count < mostOfRequest ? 0 : counted.count - count
    const seconds = Math.ceil(count / perSecond)
    context.status = 202
    return { dryRun, ...counted, count, ...(left > 0 && { left }), seconds }
  })
}

function toFilter({
  since,
  until,
  receiver,
  installation,
  eventType,
}: FailedToSend): Omit<FailedFilter, 'upToMs'> {
  return {
    sinceMs: timeOf('since', since),
    ...(until !== undefined && { beforeMs: timeOf('until', until) }),
    ...(receiver !== undefined && { receiverId: receiver }),
    ...(installation !== undefined && { installationId: installation }),
    ...(eventType !== undefined && { eventType }),
  }
}
