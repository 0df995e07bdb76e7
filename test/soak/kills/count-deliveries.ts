import { type Arrival, keyOf } from './arrival.ts'
import type { History } from './read-history.ts'

/** From a start of the host to its end. */
export type Life = {
  spawnedAtMs: number
  /** Not there when it was killed before. */
  listeningAtMs?: number
  killedAtMs?: number
  kill: 'host' | 'host while it starts' | 'sandbox process' | 'none'
}

/** `ms`: from the start of the process; `key`: the delivery that came first; `life`: which start it was. */
export type Resume = { ms: number; key: string; life: number }

export type Ledger = {
  seed: number
  kills: Map<Life['kill'], number>
  published: number
  acknowledged: number
  /** Answers to a publisher that acknowledged nothing. */
  refused: Map<string, number>
  /** Deliveries of acknowledged events, and how many of them a receiver accepted. */
  owed: number
  delivered: number
  /** Deliveries that never were taken. */
  lost: string[]
  arrivals: number
  refusedArrivals: number
  /** Arrivals after the same delivery had been taken. */
  duplicates: Duplicates
  /** Of the duplicates, deliveries none of whose attempts is kept as interrupted. */
  unexplained: number
  history: History
  /** Of each start with work to take up, how long after listening the first of it came. */
  resumes: Resume[]
}

/** `beyondFlight`: of a kill, more than attempts were cut off by it, which are those that were in flight. */
type Duplicates = {
  acrossKills: number
  mostForOneKill: number
  beyondFlight: number
  withinOneLife: string[]
}

export function toLedger(given: {
  seed: number
  lives: Life[]
  published: Set<string>
  acknowledged: Map<string, number>
  refused: Map<string, number>
  paths: string[]
  arrivals: Arrival[]
  history: History
}): Ledger {
  const { seed, lives, published, acknowledged, refused, paths, arrivals, history } = given
  const byDelivery = Map.groupBy(arrivals, keyOf)
  const owed = [...acknowledged.keys()].flatMap((eventId) => paths.map((path) => keyOf({ eventId, path })))
  const isTaken = (key: string) => byDelivery.get(key)?.some(({ status }) => status === 200) ?? false
  const lost = owed.filter((key) => !isTaken(key))
  const kills = new Map<Life['kill'], number>()
  for (const { kill } of lives) if (kill !== 'none') kills.set(kill, (kills.get(kill) ?? 0) + 1)
  const { repeats, ...duplicates } = countDuplicates(byDelivery, lives, history.interrupted.begunAtMs)
  return {
    ...{ seed, kills, refused, lost, history, duplicates },
    published: published.size,
    acknowledged: acknowledged.size,
    owed: owed.length,
    delivered: owed.length - lost.length,
    arrivals: arrivals.length,
    refusedArrivals: arrivals.filter(({ status }) => status !== 200).length,
    unexplained: repeats.filter((key) => !history.interrupted.keys.has(key)).length,
    resumes: toResumes(byDelivery, acknowledged, lives),
  }
}

/** Arrivals of what had been taken before. */
export function repeatsOf(arrivals: readonly Arrival[]): string[] {
  return [...Map.groupBy(arrivals, keyOf)].flatMap(([key, all]) => {
    const takenAt = all.findIndex(({ status }) => status === 200)
    return takenAt < 0 ? [] : all.slice(takenAt + 1).map(() => key)
  })
}

/** A repeat belongs to the kill that ended the life in which the delivery had been taken. */
function countDuplicates(
  byDelivery: Map<string, Arrival[]>,
  lives: Life[],
  begunAtMs: readonly number[],
): Duplicates & { repeats: string[] } {
  const perLife = new Map<number, number>()
  const repeats: string[] = []
  const withinOneLife: string[] = []
  for (const [key, all] of byDelivery) {
    const takenAt = all.findIndex(({ status }) => status === 200)
    if (takenAt < 0) continue
    let before = lifeOf(all[takenAt] as Arrival, lives)
    for (const repeat of all.slice(takenAt + 1)) {
      const life = lifeOf(repeat, lives)
      if (life === before) withinOneLife.push(key)
      else {
        perLife.set(before, (perLife.get(before) ?? 0) + 1)
        repeats.push(key)
      }
      before = life
    }
  }
  const inFlight = Map.groupBy(begunAtMs, (atMs) => lifeOf({ atMs }, lives))
  const mostForOneKill = Math.max(0, ...perLife.values())
  const beyond = [...perLife].map(([life, count]) => count - (inFlight.get(life)?.length ?? 0))
  const beyondFlight = Math.max(0, ...beyond)
  return { repeats, acrossKills: repeats.length, mostForOneKill, beyondFlight, withinOneLife }
}

const lifeOf = ({ atMs }: Pick<Arrival, 'atMs'>, lives: Life[]): number =>
  lives.findLastIndex(({ spawnedAtMs }) => spawnedAtMs <= atMs)

/** Longer than the schedule's longest delay. */
const longestRetryMs = 10_000

/**
 * For each life that began with deliveries that no receiver had seen: the time from its start to the first of these.
 * A life that was killed within a second before that does not count. An event whose sandbox process was killed waits for its
 * retry and is not due, so starts soon after such a kill are left out.
 */
function toResumes(
  byDelivery: Map<string, Arrival[]>,
  acknowledged: Map<string, number>,
  lives: Life[],
): Resume[] {
  const firsts = [...byDelivery].flatMap(([key, [first]]) => {
    const acknowledgedAtMs = first && acknowledged.get(first.eventId)
    return first === undefined || acknowledgedAtMs === undefined
      ? []
      : [{ key, acknowledgedAtMs, atMs: first.atMs }]
  })
  const followsSandboxKill = (atMs: number) =>
    lives.some(
      ({ kill, spawnedAtMs, killedAtMs = 0 }) =>
        kill === 'sandbox process' && spawnedAtMs < atMs && atMs - killedAtMs < longestRetryMs,
    )
  return lives.flatMap(({ spawnedAtMs, listeningAtMs, killedAtMs = Number.POSITIVE_INFINITY }, life) => {
    if (listeningAtMs === undefined || followsSandboxKill(spawnedAtMs)) return []
    const [first] = firsts
      .filter(({ acknowledgedAtMs, atMs }) => acknowledgedAtMs < spawnedAtMs && atMs >= spawnedAtMs)
      .toSorted((a, b) => a.atMs - b.atMs)
    if (first === undefined) return []
    const isCutShort = first.atMs > killedAtMs && killedAtMs - listeningAtMs < 1_000
    return isCutShort ? [] : [{ ms: first.atMs - spawnedAtMs, key: first.key, life }]
  })
}
