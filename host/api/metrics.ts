import type Router from '@koa/router'
import { cacheReads } from '../cache.ts'
import { countInstallations } from '../db/queries/installed/installations.ts'
import { readOwed } from '../db/queries/operating/owed.ts'
import { assertOperator } from './caller.ts'
import { mayReadMetrics } from './metrics-access.ts'
import type { RouteParts } from './parts.ts'

/** For Prometheus. A setting says who may read it; an operator's token always may. */
export function addMetricsRoutes(router: Router, parts: RouteParts): void {
  // Counting takes the database's time: it is done once a second, however many ask.
  const counts = cacheReads({
    keyOf: String,
    read: async (_all: 'all') => ({
      owed: await readOwed(parts.longReader),
      installations: await countInstallations(parts.longReader),
    }),
  })

  router.get('/metrics', async (context) => {
    const { metrics, metricsAccess, sandboxes, wall } = parts
    if (!mayReadMetrics(context, metricsAccess)) assertOperator(await parts.authenticate(context))
    context.type = metrics.contentType
    const [{ owed, installations }, storage] = await Promise.all([counts.get('all'), parts.probeStorage()])
    context.body = await metrics.text({
      ...{ processes: sandboxes.processes(), levels: wall.levels },
      owed: { ...owed, circuitsOpen: parts.circuits.openCircuits() },
      host: { version: parts.version, storage, installations },
    })
  })
}
