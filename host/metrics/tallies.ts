import { Histogram, type MetricObjectWithValues, type MetricValueWithName, type Registry } from 'prom-client'

/** A histogram's counts, one more than it has bounds: the last is of what is over all of them. */
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
 * A histogram of prom-client whose counts are ours, read when somebody scrapes. Its own `observe` hashes the labels
 * each time; and it has no way to be given counts.
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
