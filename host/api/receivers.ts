import type { Context } from 'koa'
import type { Receiver as ReceiverView, ReceiverWithCounts } from '../../schemas/generated/api/receivers.ts'
import { announce } from '../db/announce.ts'
import { nowOf } from '../db/database-clock.ts'
import type { Db } from '../db/db.ts'
import { listCounts } from '../db/queries/delivery-counts.ts'
import { findInstallation } from '../db/queries/installations.ts'
import { findListedDelivery } from '../db/queries/list-deliveries.ts'
import { countPending, findReceiver, listReceivers, type Receiver } from '../db/queries/receivers.ts'
import { AnnexError } from '../errors.ts'
import { type AuditAction, recordAudit } from '../logs/audit.ts'
import type { Circuits } from '../queue/fairness.ts'
import type { DeliveryCounts } from '../webhooks/delivery-counts.ts'
import { orderReceiver, pauseReceiver, resumeReceiver, sendExample } from '../webhooks/operate-receiver.ts'
import { mayOpen, originOf, ownerOf, type Person } from './caller.ts'
import { toDelivery } from './deliveries.ts'
import { idCursor, listPage, toIso } from './list-query.ts'
import type { OnOperation } from './operations.ts'

const shownDays = 30

type ReceiverParts = { db: Db; counts: DeliveryCounts; circuits: Circuits }

type ReceiverRequest = { caller: Person; params: { receiver: string } }

/** Receivers of deliveries: their state, pausing, and order. */
export function addReceiverRoutes(on: OnOperation, { db, counts, circuits }: ReceiverParts): void {
  on('GET /v1/receivers', async (request) => {
    const { organization, installation, state } = request.query
    const where = {
      ...(await ownerOf(db, request.caller, organization)),
      ...(installation !== undefined && { installationId: installation }),
      ...(state !== undefined && { state }),
    }
    return listPage(request, {
      cursor: idCursor('rcv'),
      cursorOf: ({ id }) => id,
      read: ({ after, limit }) =>
        listReceivers(db, { ...where, ...(after !== undefined && { before: after }), limit }),
      toView: view,
    })
  })

  on('GET /v1/receivers/{receiver}', async (request) => viewWithCounts(await open(request)))

  on('PATCH /v1/receivers/{receiver}', async (request) => {
    const receiver = await open(request)
    const { ordered } = request.body
    if (ordered !== undefined) {
      const change = { before: { ordered: receiver.ordered }, after: { ordered } }
      await orderReceiver(db, receiver, ordered, recordOf(request, receiver, 'receiver.change', change))
    }
    return viewWithCounts(receiver)
  })

  on('POST /v1/receivers/{receiver}/pause', async (request) => {
    const receiver = await open(request)
    const { reason = null } = request.body
    await pauseReceiver(
      db,
      receiver,
      reason,
      recordOf(request, receiver, 'receiver.pause', { after: { reason } }),
    )
    return viewWithCounts(receiver)
  })

  on('POST /v1/receivers/{receiver}/resume', async (request) => {
    const receiver = await open(request)
    const wasOpen = circuits.closeCircuit(receiver.id)
    if (wasOpen && receiver.state === 'active') announce(db, 'delivery')
    else await resumeReceiver(db, receiver, recordOf(request, receiver, 'receiver.resume', {}))
    return viewWithCounts(receiver)
  })

  on('POST /v1/receivers/{receiver}/example', async (request) => {
    const receiver = await open(request)
    const { type } = request.body
    const record = recordOf(request, receiver, 'receiver.send_example', { after: { type: type ?? null } })
    const id = await sendExample(db, receiver, type, record)
    const delivery = await findListedDelivery(db, id)
    if (delivery === undefined) throw new AnnexError('not_found', `The delivery ${id} has just ended.`)
    return toDelivery(delivery)
  })

  /** The state of the circuit is this host's own. */
  function view(receiver: Receiver): ReceiverView {
    const until = receiver.state === 'active' ? circuits.heldBackUntil(receiver.id, nowOf(db)) : undefined
    return { ...toView(receiver), ...(until !== undefined && { heldBackUntil: toIso(until) }) }
  }

  async function open({ caller, params }: ReceiverRequest): Promise<Receiver> {
    const id = params.receiver
    const receiver = await findReceiver(db, id)
    const installation = receiver && (await findInstallation(db, receiver.installationId))
    if (receiver !== undefined && mayOpen(caller, installation?.organizationId)) return receiver
    throw new AnnexError('not_found', `There is no receiver ${id} that you may see.`)
  }

  async function viewWithCounts({ id }: Receiver): Promise<ReceiverWithCounts> {
    const receiver = await findReceiver(db, id)
    if (receiver === undefined) throw new AnnexError('not_found', `There is no receiver ${id} any more.`)
    // Counts of the last second are stored first.
    await counts.flush()
    const days = await listCounts(db, id, shownDays)
    const { oldestAt, ...pending } = await countPending(db, id)
    return {
      ...view(receiver),
      pending: { ...pending, ...(oldestAt !== null && { oldestAt: toIso(oldestAt) }) },
      days: days.map(({ day, ...ofDay }) => ({ day: toIso(day).slice(0, 10), ...ofDay })),
    }
  }
}

function recordOf(
  request: { caller: Person; context: Context },
  { id, installationId }: Receiver,
  action: Extract<AuditAction, `receiver.${string}`>,
  change: { before?: object; after?: object },
): (transaction: Db) => Promise<void> {
  return async (transaction) => {
    const installation = await findInstallation(transaction, installationId)
    await recordAudit(transaction, originOf(request), {
      action,
      organizationId: installation?.organizationId ?? null,
      subject: { kind: 'receiver', id },
      ...change,
    })
  }
}

function toView({
  id,
  installationId,
  signedBy,
  url,
  state,
  reason,
  failingSince,
  ...more
}: Receiver): ReceiverView {
  return {
    object: 'receiver',
    id,
    state,
    ...(reason !== null && { reason }),
    installation: installationId,
    signedBy,
    url,
    ordered: more.ordered,
    ...(failingSince !== null && { failingSince: toIso(failingSince) }),
    createdAt: toIso(more.createdAt),
    updatedAt: toIso(more.updatedAt),
  }
}
