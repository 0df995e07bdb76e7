import type Router from '@koa/router'
import { readOwed } from '../db/queries/operating/owed.ts'
import { assertOperator } from '../http/caller.ts'
import { mayReadMetrics } from '../http/metrics-access.ts'
import { keepReadings } from '../keep-readings.ts'
import type { RouteParts } from './parts.ts'

/** For Prometheus. A setting says who may read it; an operator's token always may. */
export function addMetricsRoutes(router: Router, parts: RouteParts): void {
  // Counting what is owed takes the database's time: it is read once a second, however many ask.
  const counts = keepReadings({ keyOf: String, read: (_all: 'all') => readOwed(parts.longReader) })

  router.get('/metrics', async (context) => {
    const { metrics, metricsAccess, sandboxes, wall } = parts
    if (!mayReadMetrics(context, metricsAccess)) assertOperator(await parts.authenticate(context))
    context.type = metrics.contentType
    const owed = { ...(await counts.get('all')), circuitsOpen: parts.circuits.openCircuits() }
    context.body = await metrics.text({ processes: sandboxes.processes(), levels: wall.levels, owed })
  })
}
