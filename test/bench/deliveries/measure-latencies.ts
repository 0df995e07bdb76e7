import type { Receiver } from './start-receiver.ts'
import type { Side } from './start-sides.ts'

/** From the publish of an event until a receiver has the first bytes of its delivery. */
export type Latency = { receiver: number; ms: number }

/**
 * Publishes events at a steady pace, and waits until they have come.
 *
 * @param given.receivers those that are waited for and measured; default: all
 */
export async function measureLatencies(
  receiver: Receiver,
  side: Side,
  given: { run: string; events: number; everyMs: number; receivers?: number[] },
): Promise<Latency[]> {
  const { receivers = [...receiver.urls.keys()], ...paced } = given
  await receiver.call('reset', undefined)
  const [began] = await Promise.all([
    side.call('pace', paced),
    receiver.call('expect', { count: given.events * receivers.length, receivers }),
  ])
  const arrivals = await receiver.call('arrivals', undefined)
  return arrivals
    .filter(({ receiver }) => receivers.includes(receiver))
    .map(({ receiver, eventId, atMs }) => ({ receiver, ms: atMs - (began.get(eventId) ?? Number.NaN) }))
}
