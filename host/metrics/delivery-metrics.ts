import { Counter, Gauge, type Registry } from 'prom-client'
import { addTo, type Buckets, createBuckets, registerBuckets } from './tallies.ts'

/** What is owed now, and to whom. */
export type OwedSnapshot = {
  jobs: readonly { kind: string; state: string; count: number }[]
  /** For how long the oldest job of a kind has been owed, in ms. */
  oldest: readonly { kind: string; ageMs: number }[]
  endpoints: readonly { state: string; count: number }[]
  /** Endpoints that this host leaves alone for a while, as they have failed again and again. */
  circuitsOpen: number
}

export const nothingOwed: OwedSnapshot = { jobs: [], oldest: [], endpoints: [], circuitsOpen: 0 }

export type DeliveryMetrics = {
  /** Costs well under 2 µs: it is called for every attempt. */
  observe: (seen: {
    attempt?: { outcome: string; durationMs: number }
    state: string
    /** Since the delivery was owed first. */
    ageMs?: number
  }) => void
}

const attemptBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const deliveryBounds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600, 3_600, 86_400]

/** Counts attempts, and says what is owed. */
export function createDeliveryMetrics(registry: Registry, now: () => OwedSnapshot): DeliveryMetrics {
  const byOutcome = new Map<string, Buckets>()
  const delivered = createBuckets(deliveryBounds)
  const settled = { delivered: 0, failed: 0 }
  registerBuckets(registry, {
    ...{ name: 'annex_delivery_attempt_seconds', help: 'Attempts at deliveries', label: 'outcome' },
    bounds: attemptBounds,
    read: () => byOutcome,
  })
  registerBuckets(registry, {
    name: 'annex_delivery_seconds',
    help: 'From when a delivery is owed to when it is delivered, all attempts and waits included',
    label: 'state',
    bounds: deliveryBounds,
    read: () => [['delivered', delivered] as const].map(([state, buckets]) => [state, buckets]),
  })
  const deliveries = new Counter({
    ...{ name: 'annex_deliveries_total', help: 'Deliveries that came to their end', labelNames: ['state'] },
    registers: [registry],
    collect() {
      deliveries.reset()
      for (const [state, count] of Object.entries(settled)) deliveries.inc({ state }, count)
    },
  })
  gauge('annex_jobs', 'Work that is owed, and what of it has failed', ['kind', 'state'], (add) => {
    for (const { kind, state, count } of now().jobs) add({ kind, state }, count)
  })
  gauge('annex_oldest_owed_seconds', 'For how long the oldest work has been owed', ['kind'], (add) => {
    for (const { kind, ageMs } of now().oldest) add({ kind }, ageMs / 1_000)
  })
  gauge('annex_webhook_endpoints', 'Endpoints that deliveries go to', ['state'], (add) => {
    for (const { state, count } of now().endpoints) add({ state }, count)
  })
  gauge('annex_circuits_open', 'Endpoints that this host leaves alone for a while', [], (add) =>
    add({}, now().circuitsOpen),
  )
  return {
    observe({ attempt, state, ageMs }) {
      if (attempt !== undefined) addTo(bucketsOf(attempt.outcome), attemptBounds, attempt.durationMs / 1_000)
      if (state === 'delivered' && ageMs !== undefined) addTo(delivered, deliveryBounds, ageMs / 1_000)
      if (state === 'delivered' || state === 'failed') settled[state] += 1
    },
  }

  function bucketsOf(outcome: string): Buckets {
    const found = byOutcome.get(outcome) ?? createBuckets(attemptBounds)
    byOutcome.set(outcome, found)
    return found
  }

  type Add = (labels: Record<string, string>, value: number) => void

  function gauge(name: string, help: string, labelNames: string[], read: (add: Add) => void): void {
    const metric = new Gauge({
      ...{ name, help, labelNames, registers: [registry] },
      collect() {
        metric.reset()
        read((labels, value) => metric.set(labels, value))
      },
    })
  }
}
