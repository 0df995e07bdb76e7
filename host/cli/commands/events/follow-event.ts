import type { Receipt } from '../../api/records.ts'
import type { Session } from '../../open-session.ts'
import { feedDeliveries } from '../deliveries/delivery-feed.ts'
import { printFeedItem } from '../deliveries/print-feed.ts'

/** A handler asks for deliveries when it runs; one that has asked for none by now will not. */
const quietMs = 3_000

/**
 * Prints what becomes of an event until all its deliveries are settled.
 *
 * @returns whether all were delivered; true also when no script asked for one
 */
export async function followEvent(
  { api, terminal }: Pick<Session, 'api' | 'terminal'>,
  { eventId, installations }: Pick<Receipt, 'eventId' | 'installations'>,
): Promise<boolean> {
  const states = new Map<string, string>()
  let changedAt = Date.now()
  for await (const item of feedDeliveries(api, { event: eventId }, { fromNow: false })) {
    if (item !== undefined) {
      states.set(item.delivery.id, item.delivery.state)
      changedAt = Date.now()
      printFeedItem(terminal, item)
      continue
    }
    const isSettled = ![...states.values()].includes('owed')
    const isComplete = states.size >= installations || Date.now() - changedAt > quietMs
    if (isSettled && isComplete) break
  }
  if (states.size === 0) {
    terminal.say(
      installations === 0
        ? 'No active installation takes this event: see `annex installations`.'
        : 'No script asked for a delivery. Its settings may not select this event; `annex logs` shows more.',
    )
  }
  return ![...states.values()].includes('failed')
}
