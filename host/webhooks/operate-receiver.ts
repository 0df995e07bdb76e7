import type { PublishableEventType } from '../../schemas/events.ts'
import { announce } from '../db/announce.ts'
import type { Db } from '../db/db.ts'
import { createId } from '../db/ids.ts'
import { inSteps, stepSize } from '../db/in-steps.ts'
import { queueDeliveries } from '../db/queries/deliveries.ts'
import {
  changeReceiverState,
  type DueCursor,
  markOrdered,
  markRunning,
  type Receiver,
  setOrdered,
} from '../db/queries/receivers.ts'
import { releaseWaiting } from '../db/queries/release-waiting.ts'
import { transact } from '../db/sql.ts'
import { AnnexError } from '../errors.ts'
import { createSampleEvent, idFieldsOf, type SampleIds } from '../events/sample-event.ts'
import { assertSendable } from './send-again.ts'

/** Records a change of a receiver, in its transaction. */
type Record = (transaction: Db) => Promise<void>

/**
 * Pauses a receiver: its pending deliveries wait, and running attempts end as usual.
 *
 * @throws AnnexError `conflict` when it is not active
 */
export async function pauseReceiver(
  db: Db,
  { id, state }: Receiver,
  reason: string | null,
  record: Record,
): Promise<void> {
  if (await changeState(db, id, { from: ['active'], to: 'paused', reason }, record)) return
  throw new AnnexError('conflict', `The receiver ${id} is ${state}. Only an active receiver can be paused.`)
}

/**
 * Resumes a paused or disabled receiver: waiting deliveries are due. Deliveries that failed while it was disabled stay
 * failed until they are sent again.
 *
 * @returns the number of waiting deliveries
 * @throws AnnexError `conflict` when it is active
 */
export async function resumeReceiver(db: Db, { id }: Receiver, record: Record): Promise<number> {
  const change = { from: ['paused', 'disabled'], to: 'active', reason: null } as const
  if (!(await changeState(db, id, change, record))) {
    throw new AnnexError('conflict', `The receiver ${id} is active already.`)
  }
  return releaseWaiting(db, id)
}

function changeState(
  db: Db,
  id: string,
  change: Parameters<typeof changeReceiverState>[2],
  record: Record,
): Promise<boolean> {
  return transact(db, async (transaction) => {
    const isChanged = await changeReceiverState(transaction, id, change)
    if (isChanged) await record(transaction)
    return isChanged
  })
}

/**
 * Turns ordered delivery of a receiver on or off, also for pending deliveries. An interrupted call can be repeated.
 */
export async function orderReceiver(
  db: Db,
  { id }: Receiver,
  ordered: boolean,
  record: Record,
): Promise<void> {
  await transact(db, async (transaction) => {
    await setOrdered(transaction, id, ordered)
    await record(transaction)
  })
  await markRunning(db, id, ordered)
  let after: DueCursor | undefined = { dueAt: 0, id: '' }
  await inSteps(async () => {
    if (after !== undefined) {
      after = await markOrdered(db, { receiverId: id, ordered, after, limit: stepSize })
    }
    return { changed: 0, more: after !== undefined }
  })
  announce(db, 'delivery')
}

/**
 * Sends an example event with made-up fields and `example: true`. It is signed, sent and retried like any other.
 *
 * @param type default: an event of the site or space whose secret signs
 * @returns the id of its delivery
 * @throws AnnexError `conflict` when the receiver is disabled
 */
export async function sendExample(
  db: Db,
  { id, installationId, signedBy, url }: Receiver,
  type: PublishableEventType = signedBy.startsWith('space:') ? 'space_content_updated' : 'site_view',
  record: (transaction: Db) => Promise<void> = async () => {},
): Promise<string> {
  await assertSendable(db, id)
  const eventId = createId('evt')
  const event = createSampleEvent(type, idsFor(type, signedBy), { eventId, installationId, example: true })
  const body = JSON.stringify(event)
  const example = { installationId, signedBy, url, eventId, eventType: type, body, hops: 0 }
  return transact(db, async (transaction) => {
    const [delivery] = await queueDeliveries(transaction, [example])
    await record(transaction)
    return delivery?.id ?? ''
  })
}

/** The real site or space of the level, and invented ids for the rest. */
function idsFor(type: PublishableEventType, signedBy: string): SampleIds {
  const [kind, own] = signedBy.split(':', 2)
  const made: Required<SampleIds> = {
    siteId: 'site_example',
    spaceId: 'space_example',
    pageId: 'page_example',
    revisionId: 'rev_example',
    ...(own !== undefined && { [`${kind}Id`]: own }),
  }
  return Object.fromEntries(idFieldsOf[type].map((field) => [field, made[field]]))
}
