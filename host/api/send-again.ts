import type { FailedToSend } from '../../schemas/generated/api/deliveries.ts'
import { nowOf } from '../db/database-clock.ts'
import type { Db } from '../db/db.ts'
import { findInstallation } from '../db/queries/installations.ts'
import { findListedDelivery } from '../db/queries/list-deliveries.ts'
import { countFailed, type FailedFilter } from '../db/queries/send-again.ts'
import { recordAudit } from '../logs/audit.ts'
import { mostOfRequest, sendFailed, sendNow } from '../webhooks/send-again.ts'
import { originOf, ownerOf } from './caller.ts'
import { openDelivery, toDelivery } from './deliveries.ts'
import { closedSignal, timeOf } from './list-query.ts'
import type { OnOperation } from './operations.ts'

const defaultPerSecond = 10

type SendAgainParts = { db: Db; longReader: Db }

/** Sends deliveries again. */
export function addSendAgainRoutes(on: OnOperation, parts: SendAgainParts): void {
  const { db, longReader } = parts

  on('POST /v1/deliveries/{delivery}/send', async (request) => {
    const { caller, params } = request
    const delivery = await openDelivery(db, caller, params.delivery)
    const { id, eventId, eventType, receiverId } = delivery
    const organizationId = await ownerOfInstallation(delivery.installationId)
    await sendNow(db, delivery, (transaction) =>
      recordAudit(transaction, originOf(request), {
        ...{ action: 'delivery.send', organizationId, subject: { kind: 'delivery', id } },
        after: { receiver: receiverId, event: { id: eventId, type: eventType } },
      }),
    )
    return toDelivery((await findListedDelivery(db, delivery.id)) ?? delivery)
  })

  on('POST /v1/deliveries/send-failed', async ({ caller, body, context }) => {
    const { dryRun = false, perSecond = defaultPerSecond } = body
    // Later failures are left out, so that the request ends.
    const owner = await ownerOf(db, caller, body.organization)
    const filter = { ...owner, ...toFilter(body), upToMs: nowOf(db) }
    const counted = await countFailed(longReader, filter)
    if (dryRun || counted.count === 0) {
      context.status = 200
      return { dryRun, ...counted }
    }
    // Before the first batch: a crash between them leaves no delivery without the entry.
    await recordAudit(db, originOf({ caller, context }), {
      action: 'delivery.send_failed',
      organizationId: filter.organizationId ?? (await ownerOfInstallation(body.installation)),
      subject: { kind: 'deliveries', id: body.receiver ?? body.installation ?? 'all' },
      after: { ...body, count: counted.count },
    })
    const count = await sendFailed(parts, { filter, perSecond }, closedSignal(context))
    const left = count < mostOfRequest ? 0 : counted.count - count
    const seconds = Math.ceil(count / perSecond)
    context.status = 202
    return { dryRun, ...counted, count, ...(left > 0 && { left }), seconds }
  })

  async function ownerOfInstallation(installationId: string | undefined): Promise<string | null> {
    if (installationId === undefined) return null
    return (await findInstallation(db, installationId))?.organizationId ?? null
  }
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
    ...(until !== undefined && { untilMs: timeOf('until', until) }),
    ...(receiver !== undefined && { receiverId: receiver }),
    ...(installation !== undefined && { installationId: installation }),
    ...(eventType !== undefined && { eventType }),
  }
}
