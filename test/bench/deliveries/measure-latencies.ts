import type { Receiver } from './start-receiver.ts'
import type { Side } from './start-sides.ts'

/** From the publish of an event until an endpoint has the first bytes of its delivery. */
export type Latency = { endpoint: number; ms: number }

/**
 * Publishes events at a steady pace, and waits until they have come.
 *
 * @param given.endpoints those that are waited for and measured; default: all
 */
export async function measureLatencies(
  receiver: Receiver,
  side: Side,
  given: { run: string; events: number; everyMs: number; endpoints?: number[] },
): Promise<Latency[]> {
  const { endpoints = [...receiver.urls.keys()], ...paced } = given
  await receiver.call('reset', undefined)
  const [began] = await Promise.all([
    side.call('pace', paced),
    receiver.call('expect', { count: given.events * endpoints.length, endpoints }),
  ])
  const arrivals = await receiver.call('arrivals', undefined)
  return arrivals
    .filter(({ endpoint }) => endpoints.includes(endpoint))
    .map(({ endpoint, eventId, atMs }) => ({ endpoint, ms: atMs - (began.get(eventId) ?? Number.NaN) }))
}
