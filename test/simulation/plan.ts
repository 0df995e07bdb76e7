import type { LaneRules } from '../../host/queue/fairness.ts'
import { createRandom, type Random } from './world/random.ts'

/** How a receiver answers for a while. */
export type Mood =
  | 'healthy'
  | 'slow'
  | 'failing'
  | 'silent'
  | 'resetting'
  | 'busy'
  | 'flaky'
  | 'elsewhere'
  | 'rejecting'
  | 'gone'

export type Receiver = {
  id: string
  url: string
  ordered: boolean
  moods: readonly { until: number; mood: Mood }[]
  pauses: readonly { from: number; to: number }[]
}

/** All that a seed decides before anything happens. Times are ms since the beginning. */
export type Plan = {
  seed: number
  /** One: it owns the database, as on SQLite. More: they share it by leases, as on PostgreSQL. */
  hosts: number
  receivers: readonly Receiver[]
  /** `eventId`s may be published more than once. */
  events: readonly { at: number; receiver: Receiver; eventId: string }[]
  /** When a host is killed, at a time or at one of its statements, and for how long it is down. */
  crashes: readonly { at: number; atStatement?: number; after?: boolean; downMs: number }[]
  stops: readonly { at: number; downMs: number }[]
  stalls: readonly { at: number; forMs: number }[]
  jumps: readonly { at: number; ms: number }[]
  disk: { slowestMs: number; badFrom: number; badUntil: number; errors: number }
  delaysMs: readonly number[]
  giveUpAfterMs: number
  concurrency: number
  lanes: LaneRules
}

const hour = 3_600_000
/** An hour says no more, and is more to live through. */
const jumpMs = 600_000

/** Most plans have few kinds of trouble: what goes wrong shows best where little else does. */
export function drawPlan(seed: number): Plan {
  const random = createRandom(seed)
  const { between, chance, pick } = random
  const some = <T>(probability: number, most: number, draw: () => T): T[] =>
    chance(probability) ? Array.from({ length: between(1, most) }, draw) : []
  const spanMs = pick([50, 1_000, 6_000])
  const within = () => between(0, spanMs + 6_000)
  const hosts = chance(0.3) ? between(2, 3) : 1
  const areWell = chance(0.2)
  const receivers = Array.from({ length: between(1, 4) }, (_, n) => drawReceiver(random, n, areWell))
  const events = Array.from({ length: between(1, 12) }, (_, n) => ({
    at: between(0, spanMs),
    receiver: pick(receivers as [Receiver]),
    eventId: `evt_${chance(0.1) ? 0 : n}`,
  })).sort((a, b) => a.at - b.at)
  const most = pick([1, 2, 4, 16])
  const badFrom = within()
  return {
    ...{ seed, hosts, receivers, events },
    crashes: some(0.5, 3, () => ({
      at: within(),
      ...(chance(0.7) && { atStatement: between(0, 12), after: chance(0.5) }),
      downMs: between(0, 3_000),
    })),
    stops: some(0.15, 2, () => ({ at: within(), downMs: between(0, 2_000) })),
    stalls: hosts > 1 ? some(0.5, 2, () => ({ at: within(), forMs: between(100, 25_000) })) : [],
    jumps: some(0.2, 2, () => ({ at: within(), ms: pick([jumpMs, -jumpMs, 5_000, -5_000]) })),
    disk: {
      slowestMs: chance(0.3) ? pick([1, 20, 400]) : 0,
      badFrom,
      badUntil: badFrom + (chance(0.3) ? between(1, 8_000) : 0),
      errors: pick([0.05, 0.3, 1]),
    },
    delaysMs: pick([[1_000, 2_000, 4_000], [1_000, 2_000, 4_000], [], [500, 3_000, 20_000]]),
    giveUpAfterMs: pick([5_000, 120 * hour, 120 * hour]),
    concurrency: pick([1, 4, 64]),
    lanes: {
      most,
      first: Math.min(4, most),
      circuit: pick([
        { failures: 10, firstMs: 5_000, longestMs: 60_000 },
        { failures: 2, firstMs: 1_000, longestMs: 8_000 },
      ]),
    },
  }
}

function drawReceiver({ between, chance, pick }: Random, n: number, isWell: boolean): Receiver {
  const moods: { until: number; mood: Mood }[] = []
  let until = 0
  while (!isWell && chance(0.6)) {
    until += between(1, 6_000)
    const bad = pick<Mood>(['slow', 'failing', 'silent', 'resetting', 'busy', 'flaky', 'flaky', 'flaky'])
    moods.push({ until, mood: chance(0.15) ? pick<Mood>(['elsewhere', 'rejecting', 'gone']) : bad })
  }
  const from = between(0, 8_000)
  return {
    id: `rcv_${n}`,
    url: `https://receiver-${n}.example/`,
    ordered: chance(0.3),
    moods: [...moods, { until: Number.POSITIVE_INFINITY, mood: 'healthy' }],
    pauses: chance(0.2) ? [{ from, to: from + between(1, 8_000) }] : [],
  }
}
