import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client'
import { limitOfCode } from '../config/limits-table.ts'
import type { StorageState } from '../db/probe-storage.ts'
import { readResidentBytes } from '../sandbox/process/proc.ts'
import type { OnReceipt } from '../sandbox/receipt.ts'
import type { EndCause } from '../sandbox/sandbox-errors.ts'
import type { WallLevel } from '../sandbox/wall/levels.ts'
import {
  type BacklogSnapshot,
  createDeliveryMetrics,
  type DeliveryMetrics,
  emptyBacklog,
} from './delivery-metrics.ts'
import { limitLabels } from './limit-labels.ts'
import { registerGauge } from './scraped-gauge.ts'

export type Metrics = {
  /** Runs for each dispatch, and takes about 2 µs. */
  observeReceipt: OnReceipt
  /** A limit that did not end its dispatch: the id of `limits-table.ts`. */
  observeLimit: (integration: string, limit: string) => void
  observeProcessEnd: (slot: string, cause: EndCause['kind']) => void
  observeRequest: (isEndpoint: boolean, status: number) => void
  /** An event was published; `installations`: how many take it. */
  observeEvent: (type: string, published: { duplicate: boolean; installations: number }) => void
  /** An attempt was stored. */
  observeAttempt: DeliveryMetrics['observe']
  /** All metrics in the text format of Prometheus. */
  text: (now: Snapshot) => Promise<string>
  contentType: string
}

/** State that is read at each scrape. */
export type Snapshot = {
  processes: { slot: string; pid: number | undefined; loaded: number }[]
  levels: readonly WallLevel[]
  backlog?: BacklogSnapshot
  host?: HostSnapshot
}

export type HostSnapshot = {
  version: string
  storage: StorageState
  installations: readonly { status: string; count: number }[]
}

const wallBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const cpuBounds = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1]
const mostCombinations = 2_000
const mostTypes = 50
const mostGroups = 50

export function createMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  let snapshot: Snapshot = { processes: [], levels: [] }
  const deliveries = createDeliveryMetrics(registry, () => snapshot.backlog ?? emptyBacklog)
  registerHost(registry, () => snapshot.host)
  const counter = <const L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Counter({ name, help, labelNames, registers: [registry] })
  const histogram = (name: string, help: string, buckets: number[]) =>
    new Histogram({ name, help, labelNames: ['type'], buckets, registers: [registry] })

  const dispatches = counter('annex_dispatches_total', 'Dispatches', ['integration', 'type', 'outcome'])
  const limits = counter('annex_limits_hit_total', 'Limits that scripts went over', ['integration', 'limit'])
  const egressCalls = counter('annex_egress_requests_total', 'Outbound requests of scripts', ['integration'])
  const egressBytes = counter('annex_egress_bytes_total', 'Bodies of outbound requests, both ways', [
    'integration',
  ])
  const hostCalls = counter('annex_host_calls_total', 'Host calls of scripts', ['integration'])
  const ends = counter('annex_sandbox_process_ends_total', 'Sandbox processes that ended', ['group', 'cause'])
  const requests = counter('annex_http_requests_total', 'Requests', ['to', 'status'])
  const events = counter('annex_events_total', 'Events that were published', ['type', 'result'])
  const wallTimes = histogram('annex_dispatch_seconds', 'From a dispatch to its answer', wallBounds)
  const cpuTimes = histogram('annex_dispatch_cpu_seconds', 'CPU time of a dispatch', cpuBounds)
  registerSandboxes(registry, () => snapshot)

  const dispatchLabels = limitLabels(
    ['integration', 'type', 'outcome'],
    mostCombinations,
    ({ integration }) => {
      for (const used of [egressCalls, egressBytes, hostCalls]) used.inc({ integration }, 0)
    },
  )
  const limitsLabels = limitLabels(['integration', 'limit'], mostCombinations)
  const typeLabels = limitLabels(['type'], mostTypes)
  const endLabels = limitLabels(['group', 'cause'], mostGroups)
  return {
    observeReceipt(receipt) {
      const labels = dispatchLabels(receipt.integration, receipt.type, receipt.outcome)
      dispatches.inc(labels)
      addUsed(egressCalls, labels, receipt.egressCalls)
      addUsed(egressBytes, labels, receipt.egressBytes)
      addUsed(hostCalls, labels, receipt.hostCalls)
      const type = typeLabels(receipt.type)
      wallTimes.observe(type, receipt.wallMs / 1000)
      cpuTimes.observe(type, receipt.cpuMs / 1000)
      const limit = limitOfCode(receipt.outcome)
      if (limit !== undefined) limits.inc(limitsLabels(receipt.integration, limit))
    },
    observeLimit: (integration, limit) => limits.inc(limitsLabels(integration, limit)),
    observeProcessEnd: (slot, cause) => ends.inc(endLabels(groupOf(slot), cause)),
    observeRequest: (isEndpoint, status) =>
      requests.inc({ to: isEndpoint ? 'endpoint' : 'api', status: String(status) }),
    observeEvent(type, { duplicate, installations }) {
      const result = duplicate ? 'duplicate' : installations === 0 ? 'no_installation' : 'stored'
      events.inc({ type, result })
    },
    observeAttempt: deliveries.observe,
    text(now) {
      snapshot = now
      return registry.metrics()
    },
    contentType: registry.contentType,
  }
}

/** Most dispatches use nothing, and each count takes prom-client a while. */
function addUsed(
  used: Counter<'integration'>,
  { integration }: { integration: string },
  amount: number,
): void {
  if (amount > 0) used.inc({ integration }, amount)
}

/** The sandbox processes, and the levels of the wall around them. */
function registerSandboxes(registry: Registry, now: () => Snapshot): void {
  registerGauge(registry, {
    name: 'annex_sandbox_resident_bytes',
    help: 'Resident memory of a sandbox process',
    labelNames: ['slot'],
    read(add) {
      for (const { slot, pid } of now().processes) add({ slot: nameOf(slot) }, readResidentBytes(pid))
    },
  })
  registerGauge(registry, {
    name: 'annex_sandboxes_loaded',
    help: 'Sandboxes in a process',
    labelNames: ['slot'],
    read(add) {
      for (const { slot, loaded } of now().processes) add({ slot: nameOf(slot) }, loaded)
    },
  })
  registerGauge(registry, {
    name: 'annex_wall_level',
    help: 'Whether a level of the wall is reached',
    labelNames: ['level'],
    read(add) {
      for (const { name, reached } of now().levels) add({ level: name }, reached ? 1 : 0)
    },
  })
}

/** How the host, its disk and its installations are now. */
function registerHost(registry: Registry, now: () => HostSnapshot | undefined): void {
  registerGauge(registry, {
    name: 'annex_build_info',
    help: 'Always 1; the labels say what runs',
    labelNames: ['version', 'node'],
    read(add) {
      const host = now()
      if (host !== undefined) add({ version: host.version, node: process.version }, 1)
    },
  })
  registerGauge(registry, {
    name: 'annex_storage_writable',
    help: '1 where the database takes writes, 0 as on a full disk',
    labelNames: [],
    read(add) {
      const host = now()
      if (host !== undefined) add({}, host.storage.error === undefined ? 1 : 0)
    },
  })
  registerGauge(registry, {
    name: 'annex_data_free_bytes',
    help: 'Room on the disk of the data folder',
    labelNames: [],
    read(add) {
      const freeBytes = now()?.storage.freeBytes
      if (freeBytes !== undefined) add({}, freeBytes)
    },
  })
  registerGauge(registry, {
    name: 'annex_installations',
    help: 'Installations',
    labelNames: ['status'],
    read(add) {
      for (const { status, count } of now()?.installations ?? []) add({ status }, count)
    },
  })
}

const groupOf = (slot: string): string => slot.replace(/[#!].*/s, '')

/** The slot of a script that runs alone holds its installation's id: the group's ones are shown as one. */
const nameOf = (slot: string): string => slot.replace(/!.*/s, '!alone')
