import { descendantsOf, sumUsed } from '../measure/cpu-time.ts'
import { median } from '../measure/quantile.ts'
import { nowMs } from './child-calls.ts'
import type { Receiver } from './start-receiver.ts'
import type { Side } from './start-sides.ts'

export type Rate = {
  /** From the first publish until every attempt is stored. */
  perSecond: number
  publishedPerSecond: number
  /** CPU time for one delivery of the side's own processes: the store's is not in it, but where it is SQLite. */
  cpuUs: number
  /** Deliveries that came more than once. */
  duplicates: number
}

/** Publishes these events, and waits until all their deliveries have come and are stored as delivered. */
export async function measureRate(
  receiver: Receiver,
  side: Side,
  given: { run: string; events: number },
): Promise<Rate> {
  const count = given.events * receiver.urls.length
  await receiver.call('reset', undefined)
  const cpuBefore = cpuMsOf(side)
  const startedMs = nowMs()
  const [, publishedMs] = await Promise.all([
    receiver.call('expect', { count }),
    side.call('publish', given).then(nowMs),
  ])
  await side.call('settle', undefined)
  const seconds = (nowMs() - startedMs) / 1000
  const { duplicates } = await receiver.call('counts', undefined)
  return {
    perSecond: count / seconds,
    publishedPerSecond: (given.events / (publishedMs - startedMs)) * 1000,
    cpuUs: ((cpuMsOf(side) - cpuBefore) / count) * 1000,
    duplicates,
  }
}

const cpuMsOf = ({ pid }: Side): number => sumUsed([pid, ...descendantsOf(pid)]).cpuMs

/** The median of each number; for duplicates, the sum. */
export function toMedianRate(rates: Rate[]): Rate {
  const of = (name: keyof Rate) => median(rates.map((rate) => rate[name]))
  return {
    perSecond: of('perSecond'),
    publishedPerSecond: of('publishedPerSecond'),
    cpuUs: of('cpuUs'),
    duplicates: rates.reduce((sum, { duplicates }) => sum + duplicates, 0),
  }
}
