import { collectDefaultMetrics, Registry } from 'prom-client'
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
import {
  addTo,
  type Buckets,
  createBuckets,
  createTally,
  other,
  registerBuckets,
  registerCounter,
  registerGauge,
} from './tallies.ts'

export type Metrics = {
  /** Runs for each dispatch, and takes well under 2 µs. */
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
const mostCells = 2_000
const mostTypes = 50

type Cell = {
  dispatches: number
  limits: number
  egressCalls: number
  egressBytes: number
  hostCalls: number
}
type TypeCell = { wall: Buckets; cpu: Buckets }

const createCell = (): Cell => ({ dispatches: 0, limits: 0, egressCalls: 0, egressBytes: 0, hostCalls: 0 })

/** Counts in plain numbers, and writes them as text at each scrape. */
export function createMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const byOutcome = createTally(mostCells, createCell)
  const byLimit = createTally(mostCells, createCell)
  const byType = new Map<string, TypeCell>()
  const ends = createTally(mostTypes, createCell)
  const requests = new Map<string, number>()
  const events = new Map<string, number>()
  let snapshot: Snapshot = { processes: [], levels: [] }
  const deliveries = createDeliveryMetrics(registry, () => snapshot.backlog ?? emptyBacklog)
  registerHost(registry, () => snapshot.host)
  register()
  return {
    observeReceipt({ integration, type, outcome, wallMs, cpuMs, egressCalls, egressBytes, hostCalls }) {
      const cell = byOutcome.at(integration, type, outcome)
      cell.dispatches += 1
      cell.egressCalls += egressCalls
      cell.egressBytes += egressBytes
      cell.hostCalls += hostCalls
      const times = timesOf(type)
      addTo(times.wall, wallBounds, wallMs / 1000)
      addTo(times.cpu, cpuBounds, cpuMs / 1000)
    },
    observeLimit(integration, limit) {
      byLimit.at(integration, '', limit).limits += 1
    },
    observeProcessEnd(slot, cause) {
      ends.at(groupOf(slot), '', cause).dispatches += 1
    },
    observeRequest: (isEndpoint, status) => addOne(requests, `${isEndpoint ? 'endpoint' : 'api'} ${status}`),
    observeEvent(type, { duplicate, installations }) {
      const result = duplicate ? 'duplicate' : installations === 0 ? 'no_installation' : 'stored'
      addOne(events, `${type} ${result}`)
    },
    observeAttempt: deliveries.observe,
    text(now) {
      snapshot = now
      return registry.metrics()
    },
    contentType: registry.contentType,
  }

  function timesOf(type: string): TypeCell {
    const found = byType.get(type)
    if (found !== undefined) return found
    if (byType.size >= mostTypes && type !== other) return timesOf(other)
    const times = { wall: createBuckets(wallBounds), cpu: createBuckets(cpuBounds) }
    byType.set(type, times)
    return times
  }

  function register(): void {
    registerCounter(registry, {
      name: 'annex_dispatches_total',
      help: 'Dispatches',
      labelNames: ['integration', 'type', 'outcome'],
      read: (add) =>
        byOutcome.each(([integration, type, outcome], { dispatches }) =>
          add({ integration, type, outcome }, dispatches),
        ),
    })
    registerCounter(registry, {
      name: 'annex_limits_hit_total',
      help: 'Limits that scripts went over',
      labelNames: ['integration', 'limit'],
      read(add) {
        byOutcome.each(([integration, , outcome], { dispatches }) => {
          const limit = limitOfCode(outcome)
          if (limit !== undefined) add({ integration, limit }, dispatches)
        })
        byLimit.each(([integration, , limit], { limits }) => add({ integration, limit }, limits))
      },
    })
    perIntegration('annex_egress_requests_total', 'Outbound requests of scripts', 'egressCalls')
    perIntegration('annex_egress_bytes_total', 'Bodies of outbound requests, both ways', 'egressBytes')
    perIntegration('annex_host_calls_total', 'Host calls of scripts', 'hostCalls')
    registerCounter(registry, {
      name: 'annex_sandbox_process_ends_total',
      help: 'Sandbox processes that ended',
      labelNames: ['group', 'cause'],
      read: (add) => ends.each(([group, , cause], { dispatches }) => add({ group, cause }, dispatches)),
    })
    registerCounter(registry, {
      name: 'annex_http_requests_total',
      help: 'Requests',
      labelNames: ['to', 'status'],
      read: (add) => eachPair(requests, (to, status, count) => add({ to, status }, count)),
    })
    registerCounter(registry, {
      name: 'annex_events_total',
      help: 'Events that were published',
      labelNames: ['type', 'result'],
      read: (add) => eachPair(events, (type, result, count) => add({ type, result }, count)),
    })
    registerBuckets(registry, {
      name: 'annex_dispatch_seconds',
      help: 'From a dispatch to its answer',
      label: 'type',
      bounds: wallBounds,
      *read() {
        for (const [type, { wall }] of byType) yield [type, wall] as const
      },
    })
    registerBuckets(registry, {
      name: 'annex_dispatch_cpu_seconds',
      help: 'CPU time of a dispatch',
      label: 'type',
      bounds: cpuBounds,
      *read() {
        for (const [type, { cpu }] of byType) yield [type, cpu] as const
      },
    })
    registerGauge(registry, {
      name: 'annex_sandbox_resident_bytes',
      help: 'Resident memory of a sandbox process',
      labelNames: ['slot'],
      read(add) {
        for (const { slot, pid } of snapshot.processes) add({ slot: nameOf(slot) }, readResidentBytes(pid))
      },
    })
    registerGauge(registry, {
      name: 'annex_sandboxes_loaded',
      help: 'Sandboxes in a process',
      labelNames: ['slot'],
      read(add) {
        for (const { slot, loaded } of snapshot.processes) add({ slot: nameOf(slot) }, loaded)
      },
    })
    registerGauge(registry, {
      name: 'annex_wall_level',
      help: 'Whether a level of the wall is reached',
      labelNames: ['level'],
      read(add) {
        for (const { name, reached } of snapshot.levels) add({ level: name }, reached ? 1 : 0)
      },
    })
  }

  function perIntegration(name: string, help: string, field: keyof Cell): void {
    registerCounter(registry, {
      name,
      help,
      labelNames: ['integration'],
      read: (add) => byOutcome.each(([integration], cell) => add({ integration }, cell[field])),
    })
  }
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

function addOne(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

function eachPair(
  counts: ReadonlyMap<string, number>,
  visit: (first: string, second: string, count: number) => void,
): void {
  for (const [key, count] of counts) {
    const [first = '', second = ''] = key.split(' ')
    visit(first, second, count)
  }
}

const groupOf = (slot: string): string => slot.replace(/[#!].*/s, '')

/** The slot of a script that runs alone holds its installation's id: the group's ones are shown as one. */
const nameOf = (slot: string): string => slot.replace(/!.*/s, '!alone')
