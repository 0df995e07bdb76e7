import { Counter, Histogram, type Registry } from 'prom-client'
import { registerGauge } from './scraped-gauge.ts'

/** The pending work and the receivers now. */
export type BacklogSnapshot = {
  jobs: readonly { kind: string; state: string; count: number }[]
  /** The age of the oldest job of a kind, in ms. */
  oldest: readonly { kind: string; ageMs: number }[]
  /** How long the event or task that is due for longest has been due, in ms. */
  oldestDue: readonly { kind: string; dueForMs: number }[]
  receivers: readonly { state: string; count: number }[]
  /** Receivers that have failed repeatedly: this host sends them nothing for a while. */
  circuitsOpen: number
}

export const emptyBacklog: BacklogSnapshot = {
  jobs: [],
  oldest: [],
  oldestDue: [],
  receivers: [],
  circuitsOpen: 0,
}

export type DeliveryMetrics = {
  /** Runs for each attempt. */
  observe: (seen: {
    attempt?: { outcome: string; durationMs: number }
    state: string
    /** Since the delivery was queued first. */
    ageMs?: number
  }) => void
}

const attemptBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const deliveryBounds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600, 3_600, 86_400]

/** Counts attempts, and shows pending work. */
export function createDeliveryMetrics(registry: Registry, now: () => BacklogSnapshot): DeliveryMetrics {
  const registers = [registry]
  const attempts = new Histogram({
    name: 'annex_delivery_attempt_seconds',
    help: 'Attempts at deliveries',
    labelNames: ['outcome'],
    buckets: attemptBounds,
    registers,
  })
  const times = new Histogram({
    name: 'annex_delivery_seconds',
    help: 'Time from the queueing of a delivery to its success, with all attempts and waits',
    labelNames: ['state'],
    buckets: deliveryBounds,
    registers,
  })
  times.zero({ state: 'delivered' })
  const settled = new Counter({
    name: 'annex_deliveries_total',
    help: 'Deliveries that came to their end',
    labelNames: ['state'],
    registers,
  })
  for (const state of ['delivered', 'failed']) settled.inc({ state }, 0)
  registerGauge(registry, {
    name: 'annex_jobs',
    help: 'Pending and failed jobs',
    labelNames: ['kind', 'state'],
    read(add) {
      for (const { kind, state, count } of now().jobs) add({ kind, state }, count)
    },
  })
  registerGauge(registry, {
    name: 'annex_oldest_pending_seconds',
    help: 'Age of the oldest pending job',
    labelNames: ['kind'],
    read(add) {
      for (const { kind, ageMs } of now().oldest) add({ kind }, ageMs / 1_000)
    },
  })
  registerGauge(registry, {
    name: 'annex_oldest_due_seconds',
    help: 'How long the oldest due event or task has waited for its script',
    labelNames: ['kind'],
    read(add) {
      for (const kind of ['event', 'task']) {
        const oldest = now().oldestDue.find((due) => due.kind === kind)
        add({ kind }, (oldest?.dueForMs ?? 0) / 1_000)
      }
    },
  })
  registerGauge(registry, {
    name: 'annex_webhook_receivers',
    help: 'Receivers that deliveries go to',
    labelNames: ['state'],
    read(add) {
      for (const { state, count } of now().receivers) add({ state }, count)
    },
  })
  registerGauge(registry, {
    name: 'annex_circuits_open',
    help: 'Receivers that this host leaves alone for a while',
    labelNames: [],
    read: (add) => add({}, now().circuitsOpen),
  })
  return {
    observe({ attempt, state, ageMs }) {
      if (attempt !== undefined) attempts.observe({ outcome: attempt.outcome }, attempt.durationMs / 1_000)
      if (state === 'delivered' && ageMs !== undefined) times.observe({ state }, ageMs / 1_000)
      if (state === 'delivered' || state === 'failed') settled.inc({ state })
    },
  }
}
