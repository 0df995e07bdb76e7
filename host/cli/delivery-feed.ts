import { setTimeout as sleep } from 'node:timers/promises'
import { type Api, toPath } from './client.ts'
import type { Attempt, Delivery, DeliveryWithAttempts, List } from './records.ts'

/** What happened to a delivery since the last look. */
export type FeedItem =
  | { kind: 'owed'; delivery: Delivery }
  | { kind: 'attempt'; delivery: Delivery; attempt: Attempt; previousStartedAt?: string }
  | { kind: 'settled'; delivery: Delivery }

export type DeliveryFilter = {
  installation?: string
  endpoint?: string
  event?: string
  eventType?: string
  state?: string
}

const pollMs = 300

type Seen = { attempts: number; settled: boolean }

/**
 * What happens to an event's deliveries, as it happens: by asking again every 300 ms. After each look at the server it yields
 * `undefined`, so that the reader can decide whether to go on.
 */
export async function* feedDeliveries(
  api: Api,
  filter: DeliveryFilter & { event: string },
): AsyncGenerator<FeedItem | undefined> {
  const seen = new Map<string, Seen>()
  for (;;) {
    for (const delivery of await listAll(api, filter)) yield* changesOf(api, delivery, seen)
    yield undefined
    await sleep(pollMs)
  }
}

/** The oldest first. */
async function listAll(api: Api, filter: DeliveryFilter): Promise<Delivery[]> {
  const found: Delivery[] = []
  let before: string | undefined
  do {
    const { items, next } = await api.get<List<Delivery>>('/v1/deliveries', { ...filter, limit: 200, before })
    found.push(...items)
    before = next?.before
  } while (before !== undefined)
  return found.reverse()
}

async function* changesOf(api: Api, delivery: Delivery, seen: Map<string, Seen>): AsyncGenerator<FeedItem> {
  const before = seen.get(delivery.id)
  if (before?.settled || (before?.attempts === delivery.attempts && delivery.state === 'owed')) return
  if (before === undefined) yield { kind: 'owed', delivery }
  const now = await api.get<DeliveryWithAttempts>(toPath`/v1/deliveries/${delivery.id}`)
  for (const attempt of now.attemptList) {
    if (attempt.number <= (before?.attempts ?? 0)) continue
    const previous = now.attemptList.find(({ number }) => number === attempt.number - 1)
    const previousStartedAt = previous && { previousStartedAt: previous.startedAt }
    yield { kind: 'attempt', delivery: now, attempt, ...previousStartedAt }
  }
  const settled = now.state !== 'owed'
  if (settled) yield { kind: 'settled', delivery: now }
  seen.set(delivery.id, { attempts: now.attemptList.length, settled })
}
