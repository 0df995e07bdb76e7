import {
  Counter,
  Gauge,
  Histogram,
  type MetricObjectWithValues,
  type MetricValueWithName,
  type Registry,
} from 'prom-client'

/** Plain numbers for each combination of three labels. The caller adds to a cell. */
export type Tally<T> = {
  at: (first: string, second: string, third: string) => T
  each: (visit: (labels: [first: string, second: string, third: string], cell: T) => void) => void
}

export const other = 'other'

/**
 * Cells by three labels. prom-client joins and hashes the labels at each count, which is too slow for ten thousand dispatches a
 * second. Three look-ups find a cell here.
 *
 * @param mostCells Integrators choose the names of integrations and events. Above so many combinations new ones count as
 *   `other`: the memory of Annex, and of Prometheus, stays bounded.
 */
export function createTally<T>(mostCells: number, createCell: () => T): Tally<T> {
  const cells = new Map<string, Map<string, Map<string, T>>>()
  let count = 0
  const find = (first: string, second: string, third: string) => cells.get(first)?.get(second)?.get(third)
  return {
    at(first, second, third) {
      const found = find(first, second, third)
      if (found !== undefined) return found
      if (count < mostCells) return add(first, second, third)
      // The outcome is kept as long as possible: there are few, and alarms use it.
      return find(other, other, third) ?? (count < mostCells + 100 ? add(other, other, third) : last())
    },
    each(visit) {
      for (const [first, seconds] of cells) {
        for (const [second, thirds] of seconds) {
          for (const [third, cell] of thirds) visit([first, second, third], cell)
        }
      }
    },
  }

  function last(): T {
    return find(other, other, other) ?? add(other, other, other)
  }

  function add(first: string, second: string, third: string): T {
    const seconds = cells.get(first) ?? new Map<string, Map<string, T>>()
    cells.set(first, seconds)
    const thirds = seconds.get(second) ?? new Map<string, T>()
    seconds.set(second, thirds)
    const cell = createCell()
    thirds.set(third, cell)
    count += 1
    return cell
  }
}

/** A histogram's counts, one more than it has bounds: the last counts values above all bounds. */
export type Buckets = { counts: Float64Array; sum: number }

export const createBuckets = (bounds: readonly number[]): Buckets => ({
  counts: new Float64Array(bounds.length + 1),
  sum: 0,
})

export function addTo(buckets: Buckets, bounds: readonly number[], value: number): void {
  let index = 0
  while (index < bounds.length && value > (bounds[index] as number)) index += 1
  buckets.counts[index] = (buckets.counts[index] as number) + 1
  buckets.sum += value
}

type Values<L extends string> = MetricObjectWithValues<MetricValueWithName<L>>['values']

/**
 * A histogram of prom-client that reads Annex's counts at each scrape. Its own `observe` hashes the labels each time, and it
 * cannot take over counts.
 */
export function registerBuckets<L extends string>(
  registry: Registry,
  given: {
    name: string
    help: string
    label: L
    bounds: readonly number[]
    read: () => Iterable<[label: string, buckets: Buckets]>
  },
): void {
  const { name, help, label, bounds } = given
  const histogram = new Histogram({ name, help, labelNames: [label], buckets: [...bounds], registers: [] })
  const get = async () => ({ name, help, type: 'histogram', aggregator: 'sum', values: toValues() })
  // The registry prefers the second one, which the types do not name.
  registry.registerMetric(Object.assign(histogram, { get, getForPromString: get }))

  function toValues(): Values<L | 'le'> {
    const values: Values<L | 'le'> = []
    for (const [text, { counts, sum }] of given.read()) {
      const labels = { [label]: text }
      let total = 0
      for (const [index, count] of counts.entries()) {
        total += count
        const le = bounds[index] ?? '+Inf'
        values.push(toValue(`${name}_bucket`, { le, ...labels }, total))
      }
      values.push(toValue(`${name}_sum`, labels, sum), toValue(`${name}_count`, labels, total))
    }
    return values
  }
}

const toValue = <L extends string>(metricName: string, labels: object, value: number) =>
  ({ metricName, labels, value }) as Values<L>[number]

type ScrapedMetric<L extends string> = {
  name: string
  help: string
  labelNames: L[]
  /** Values with the same labels are added up. */
  read: (add: (labels: Record<L, string>, value: number) => void) => void
}

/** A counter whose values are read at each scrape. */
export function registerCounter<L extends string>(registry: Registry, given: ScrapedMetric<L>): void {
  const metric: Counter<L> = new Counter({ ...toConfiguration(registry, given), collect })
  function collect(): void {
    metric.reset()
    given.read((labels, value) => metric.inc(labels, value))
  }
}

/** A gauge whose values are read at each scrape. */
export function registerGauge<L extends string>(registry: Registry, given: ScrapedMetric<L>): void {
  const metric: Gauge<L> = new Gauge({ ...toConfiguration(registry, given), collect })
  function collect(): void {
    metric.reset()
    given.read((labels, value) => metric.inc(labels, value))
  }
}

const toConfiguration = <L extends string>(
  registry: Registry,
  { name, help, labelNames }: ScrapedMetric<L>,
) => ({ name, help, labelNames, registers: [registry] })
