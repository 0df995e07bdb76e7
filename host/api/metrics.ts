import type { Context } from 'koa'
import { cacheReads } from '../cache.ts'
import type { Settings } from '../config/load-settings.ts'
import type { Db } from '../db/db.ts'
import type { StorageProbe } from '../db/probe-storage.ts'
import { readBacklog } from '../db/queries/backlog.ts'
import { countInstallations } from '../db/queries/installations.ts'
import { isFromHere } from '../http/visitor.ts'
import type { Metrics } from '../metrics/create-metrics.ts'
import type { Circuits } from '../queue/fairness.ts'
import type { Sandboxes } from '../sandbox/sandboxes.ts'
import type { Wall } from '../sandbox/wall/levels.ts'
import { type Authenticate, assertOperator } from './caller.ts'
import type { OnOperation } from './operations.ts'

type MetricsParts = {
  longReader: Db
  authenticate: Authenticate
  metrics: Metrics
  metricsAccess: MetricsAccess
  sandboxes: Sandboxes
  wall: Wall
  probeStorage: StorageProbe
  circuits: Circuits
  /** The version of Annex. */
  version: string
}

/** Metrics for Prometheus. */
export function addMetricsRoutes(on: OnOperation, parts: MetricsParts): void {
  const { longReader, authenticate, metrics, metricsAccess, sandboxes, wall, probeStorage } = parts
  // Counts are cached for one second: they take the database's time.
  const counts = cacheReads({
    keyOf: String,
    read: async (_all: 'all') => ({
      backlog: await readBacklog(longReader),
      installations: await countInstallations(longReader),
    }),
  })

  on('GET /metrics', async ({ context }) => {
    if (!mayReadMetrics(context, metricsAccess)) assertOperator(await authenticate(context))
    context.type = metrics.contentType
    const [{ backlog, installations }, storage] = await Promise.all([counts.get('all'), probeStorage()])
    context.body = await metrics.text({
      processes: sandboxes.processes(),
      levels: wall.levels,
      backlog: { ...backlog, circuitsOpen: parts.circuits.openCircuits() },
      host: { version: parts.version, storage, installations },
    })
  })
}

/** Readers of `/metrics` that need no operator's token. */
export type MetricsAccess = { readers: Settings['METRICS_ACCESS']; isBehindProxy: boolean }

export const mayReadMetrics = (context: Context, { readers, isBehindProxy }: MetricsAccess): boolean =>
  readers === 'anyone' || (readers === 'loopback' && !isBehindProxy && isFromHere(context.req))
