import { deflateRawSync, inflateRawSync } from 'node:zlib'

// What a chart shows of one minute or hour, and its form in the database.

/** `requestTimes`, `attemptTimes`: how many took so long, by bucket. The other numbers are sums, or the largest that was seen. */
export type Counts = Record<Sum | Largest, number> & { requestTimes: Times; attemptTimes: Times }

const sums = ['requests', 'failedRequests', 'delivered', 'failed', 'attempts', 'cpuMs'] as const
const largest = ['memoryBytes', 'backlog', 'oldestMs'] as const
type Sum = (typeof sums)[number]
type Largest = (typeof largest)[number]
type Times = Map<number, number>

export const noCounts = (): Counts => ({
  ...{ requests: 0, failedRequests: 0, delivered: 0, failed: 0, attempts: 0, cpuMs: 0 },
  ...{ memoryBytes: 0, backlog: 0, oldestMs: 0 },
  requestTimes: new Map(),
  attemptTimes: new Map(),
})

/** Adds the second to the first. */
export function addCounts(to: Counts, more: Counts): void {
  for (const name of sums) to[name] += more[name]
  for (const name of largest) to[name] = Math.max(to[name], more[name])
  for (const name of ['requestTimes', 'attemptTimes'] as const)
    for (const [bucket, count] of more[name]) addTo(to[name], bucket, count)
}

/** Buckets end at 1, 1.41, 2, 2.83 … ms, up to more than a day. */
const bucketsOfTwice = 2
const lastBucket = 54

export function addTime(times: Times, ms: number): void {
  const bucket = Math.ceil(bucketsOfTwice * Math.log2(Math.max(1, ms)))
  addTo(times, Math.min(lastBucket, bucket), 1)
}

function addTo(times: Times, bucket: number, count: number): void {
  times.set(bucket, (times.get(bucket) ?? 0) + count)
}

/**
 * The time that `share` of all took at most: the end of its bucket, so up to 1.41 times too long.
 *
 * @returns undefined without a time
 */
export function quantile(times: Times, share: number): number | undefined {
  const all = [...times].sort(([one], [other]) => one - other)
  const total = all.reduce((sum, [, count]) => sum + count, 0)
  let seen = 0
  for (const [bucket, count] of all) {
    seen += count
    if (seen >= share * total) return Math.round(2 ** (bucket / bucketsOfTwice) * 10) / 10
  }
  return undefined
}

/** The counts of each part of a chunk: null where nothing happened. */
export type Slots = (Counts | null)[]

/** Compressed JSON: an array of numbers for each slot, times as buckets and counts in turn. */
export const packSlots = (slots: Slots): Buffer => deflateRawSync(JSON.stringify(slots.map(toNumbers)))

const toNumbers = (counts: Counts | null): Packed =>
  counts && [
    ...[...sums, ...largest].map((name) => Math.round(counts[name])),
    [...counts.requestTimes].flat(),
    [...counts.attemptTimes].flat(),
  ]

type Packed = (number | number[])[] | null

export function unpackSlots(packed: Buffer): Slots {
  return (JSON.parse(inflateRawSync(packed).toString()) as Packed[]).map((numbers) => {
    if (numbers === null) return null
    const counts = noCounts()
    for (const [at, name] of [...sums, ...largest].entries()) counts[name] = numbers[at] as number
    counts.requestTimes = toTimes(numbers.at(-2) as number[])
    counts.attemptTimes = toTimes(numbers.at(-1) as number[])
    return counts
  })
}

function toTimes(flat: readonly number[]): Times {
  const times: Times = new Map()
  for (let at = 0; at + 1 < flat.length; at += 2) times.set(flat[at] ?? 0, flat[at + 1] ?? 0)
  return times
}
