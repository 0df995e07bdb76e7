import type { MeasuredServer } from '../servers/measured-server.ts'
import { median } from './quantile.ts'
import { type Load, type Measure, runLoad } from './run-load.ts'

export type Compared = { name: string; median: Measure; rounds: Measure[] }

/**
 * Measures servers in turn, round after round: what else the machine does then falls on all of them alike. One
 * short round before lets each compile its code.
 */
export async function compare(
  servers: MeasuredServer[],
  { rounds, ...load }: Load & { rounds: number },
  onRound: (name: string, measure: Measure) => void,
): Promise<Compared[]> {
  const results = servers.map((server) => ({ ...server, measures: [] as Measure[] }))
  for (const server of results) await runLoad(server, { ...load, seconds: Math.min(2, load.seconds) })
  for (let round = 0; round < rounds; round++) {
    for (const server of results) {
      const measure = await runLoad(server, load)
      server.measures.push(measure)
      onRound(server.name, measure)
    }
  }
  return results.map(({ name, measures }) => ({ name, median: toMedian(measures), rounds: measures }))
}

/** The median of each number. */
export function toMedian(measures: Measure[]): Measure {
  const of = (name: keyof Measure) => median(measures.map((measure) => measure[name]))
  return {
    requestsPerSecond: of('requestsPerSecond'),
    p50Ms: of('p50Ms'),
    p99Ms: of('p99Ms'),
    hostUs: of('hostUs'),
    behindUs: of('behindUs'),
    loadShare: of('loadShare'),
  }
}
