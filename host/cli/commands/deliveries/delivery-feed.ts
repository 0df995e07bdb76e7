import { setTimeout as sleep } from 'node:timers/promises'
import { type Api, toPath } from '../../api/create-api.ts'
import type { Attempt, Delivery, DeliveryWithAttempts, List } from '../../api/records.ts'

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
 * What happens to deliveries, as it happens: by asking again every 300 ms. After each look at the server it yields
 * `undefined`, so that the reader can decide whether to go on.
 *
 * @param options.fromNow deliveries that were settled before the feed began are left out
 */
export async function* feedDeliveries(
  api: Api,
  filter: DeliveryFilter,
  options: { fromNow: boolean },
): AsyncGenerator<FeedItem | undefined> {
  const seen = new Map<string, Seen>()
  for (let isFirst = true; ; isFirst = false) {
    const listed = await listWatched(api, filter, seen)
    for (const delivery of listed) {
      if (isFirst && options.fromNow && delivery.state !== 'owed') {
        seen.set(delivery.id, { attempts: delivery.attempts, settled: true })
      } else yield* changesOf(api, delivery, seen)
    }
    forgetOld(seen, listed)
    yield undefined
    await sleep(pollMs)
  }
}

/** The newest deliveries, oldest first, and those of before that were not settled yet. */
async function listWatched(api: Api, filter: DeliveryFilter, seen: Map<string, Seen>): Promise<Delivery[]> {
  const { items } = await api.get<List<Delivery>>('/v1/deliveries', { ...filter, limit: 200 })
  const ids = new Set(items.map(({ id }) => id))
  const left = [...seen].filter(([id, { settled }]) => !settled && !ids.has(id))
  const older = await Promise.all(left.map(([id]) => api.get<Delivery>(toPath`/v1/deliveries/${id}`)))
  return [...older, ...items.reverse()]
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

/** A feed may run for weeks. */
function forgetOld(seen: Map<string, Seen>, listed: Delivery[]): void {
  const ids = new Set(listed.map(({ id }) => id))
  for (const [id, { settled }] of seen) if (settled && !ids.has(id)) seen.delete(id)
}
