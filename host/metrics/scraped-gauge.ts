import { Gauge, type Registry } from 'prom-client'

/**
 * Registers a gauge whose values are read at each scrape.
 *
 * @param given.read adds values; those with the same labels are summed
 */
export function registerGauge<L extends string>(
  registry: Registry,
  given: {
    name: string
    help: string
    labelNames: L[]
    read: (add: (labels: Record<L, string>, value: number) => void) => void
  },
): void {
  const { name, help, labelNames, read } = given
  const gauge: Gauge<L> = new Gauge({ name, help, labelNames, registers: [registry], collect })
  function collect(): void {
    gauge.reset()
    read((labels, value) => gauge.inc(labels, value))
  }
}
