import type { MeasuredServer } from './measured-server.ts'
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
  const results = servers.map(({ name, url }) => ({ name, url, measures: [] as Measure[] }))
  for (const { url } of results) await runLoad(url, { ...load, seconds: Math.min(2, load.seconds) })
  for (let round = 0; round < rounds; round++) {
    for (const { name, url, measures } of results) {
      const measure = await runLoad(url, load)
      measures.push(measure)
      onRound(name, measure)
    }
  }
  return results.map(({ name, measures }) => ({ name, median: toMedian(measures), rounds: measures }))
}

/** The median of each number by itself. */
export function toMedian(measures: Measure[]): Measure {
  return {
    requestsPerSecond: median(measures.map((measure) => measure.requestsPerSecond)),
    p50Ms: median(measures.map((measure) => measure.p50Ms)),
    p99Ms: median(measures.map((measure) => measure.p99Ms)),
  }
}

function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN
  return (lower + upper) / 2
}
