import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { limitOfCode } from '../config/limits-table.ts'
import { readResidentBytes } from '../sandbox/process/proc.ts'
import type { OnReceipt } from '../sandbox/receipt.ts'
import type { EndCause } from '../sandbox/sandbox-errors.ts'
import type { WallLevel } from '../sandbox/wall/levels.ts'
import { addTo, type Buckets, createBuckets, registerBuckets } from './tallies.ts'
import {
  createDeliveryMetrics,
  type DeliveryMetrics,
  nothingOwed,
  type OwedSnapshot,
} from './delivery-metrics.ts'
import { type HostSnapshot, registerHostMetrics } from './host-metrics.ts'
import { createTally, other } from './tally.ts'

export type Metrics = {
  /** Costs well under 2 µs: it is called for every dispatch. */
  observeReceipt: OnReceipt
  /** A limit that did not end its dispatch: the id of `limits-table.ts`. */
  observeLimit: (integration: string, limit: string) => void
  observeProcessEnd: (slot: string, cause: EndCause['kind']) => void
  observeRequest: (isEndpoint: boolean, status: number) => void
  /** An event that was published, with how many installations take it. */
  observeEvent: (type: string, published: { duplicate: boolean; installations: number }) => void
  /** An attempt that was stored, with what became of its delivery. */
  observeAttempt: DeliveryMetrics['observe']
  /** All of it, with how things are now, in the text format of Prometheus. */
  text: (now: Snapshot) => Promise<string>
  contentType: string
}

/** What is not counted, but looked at when somebody asks. */
export type Snapshot = {
  processes: { slot: string; pid: number | undefined; loaded: number }[]
  levels: readonly WallLevel[]
  owed?: OwedSnapshot
  host?: HostSnapshot
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

/** Counts what happens, in plain numbers, and writes them down when somebody asks. */
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
  const deliveries = createDeliveryMetrics(registry, () => snapshot.owed ?? nothingOwed)
  registerHostMetrics(registry, () => snapshot.host)
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
    counter('annex_dispatches_total', 'Dispatches', ['integration', 'type', 'outcome'], (add) =>
      byOutcome.each(([integration, type, outcome], { dispatches }) =>
        add({ integration, type, outcome }, dispatches),
      ),
    )
    counter('annex_limits_hit_total', 'Limits that scripts went over', ['integration', 'limit'], (add) => {
      byOutcome.each(([integration, , outcome], { dispatches }) => {
        const limit = limitOfCode(outcome)
        if (limit !== undefined) add({ integration, limit }, dispatches)
      })
      byLimit.each(([integration, , limit], { limits }) => add({ integration, limit }, limits))
    })
    perIntegration('annex_egress_requests_total', 'Outbound requests of scripts', 'egressCalls')
    perIntegration('annex_egress_bytes_total', 'Bodies of outbound requests, both ways', 'egressBytes')
    perIntegration('annex_host_calls_total', 'What scripts asked of the host', 'hostCalls')
    counter('annex_sandbox_process_ends_total', 'Sandbox processes that ended', ['group', 'cause'], (add) =>
      ends.each(([group, , cause], { dispatches }) => add({ group, cause }, dispatches)),
    )
    counter('annex_http_requests_total', 'Requests', ['to', 'status'], (add) =>
      eachPair(requests, (to, status, count) => add({ to, status }, count)),
    )
    counter('annex_events_total', 'Events that were published', ['type', 'result'], (add) =>
      eachPair(events, (type, result, count) => add({ type, result }, count)),
    )
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
    gauge('annex_sandbox_resident_bytes', 'Resident memory of a sandbox process', ['slot'], (add) => {
      for (const { slot, pid } of snapshot.processes) add({ slot: nameOf(slot) }, readResidentBytes(pid))
    })
    gauge('annex_sandboxes_loaded', 'Sandboxes in a process', ['slot'], (add) => {
      for (const { slot, loaded } of snapshot.processes) add({ slot: nameOf(slot) }, loaded)
    })
    gauge('annex_wall_level', 'Whether a level of the wall is reached', ['level'], (add) => {
      for (const { name, reached } of snapshot.levels) add({ level: name }, reached ? 1 : 0)
    })
  }

  type Add<L extends string> = (labels: Record<L, string>, value: number) => void

  function counter<L extends string>(
    name: string,
    help: string,
    labelNames: L[],
    read: (add: Add<L>) => void,
  ) {
    const metric: Counter<L> = new Counter({
      ...{ name, help, labelNames, registers: [registry] },
      collect() {
        metric.reset()
        read((labels, value) => metric.inc(labels, value))
      },
    })
  }

  function gauge<L extends string>(name: string, help: string, labelNames: L[], read: (add: Add<L>) => void) {
    const metric: Gauge<L> = new Gauge({
      ...{ name, help, labelNames, registers: [registry] },
      collect() {
        metric.reset()
        read((labels, value) => metric.inc(labels, value))
      },
    })
  }

  function perIntegration(name: string, help: string, what: keyof Cell): void {
    counter(name, help, ['integration'], (add) =>
      byOutcome.each(([integration], cell) => add({ integration }, cell[what])),
    )
  }
}

function addOne(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

/** Of counts whose keys are two words. */
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

/** The slot of a script that runs alone has its installation's id: those of a group are shown as one. */
const nameOf = (slot: string): string => slot.replace(/!.*/s, '!alone')
