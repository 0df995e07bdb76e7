import type { Context } from 'koa'
import { cacheReads } from '../cache.ts'
import type { Db } from '../db/db.ts'
import { readBacklog } from '../db/queries/backlog.ts'
import { summarizeIntegrations } from '../db/queries/integrations.ts'
import { listDeployedDigests } from '../db/queries/versions.ts'
import { sendPage } from '../http/page.ts'
import { hasLevel } from '../sandbox/wall/levels.ts'
import type { Authenticate } from './caller.ts'
import { type HealthParts, inTime, readReadiness } from './health.ts'
import { type HomeDetail, toHomePage } from './home-page.ts'
import { type MetricsAccess, mayReadMetrics } from './metrics.ts'
import { operatorSteps, visitorSteps } from './next-steps.ts'
import type { OnOperation } from './operations.ts'

const mostListed = 50

type HomeParts = HealthParts & {
  longReader: Db
  authenticate: Authenticate
  metricsAccess: MetricsAccess
  publicUrl: () => string
  /** The version of Annex. */
  version: string
}

/** A page for a browser: the state of Annex, and next steps. */
export function addHomeRoute(on: OnOperation, parts: HomeParts): void {
  const readiness = cacheReads({ keyOf: String, read: (_all: 'all') => readReadiness(parts) })
  const details = cacheReads({ keyOf: String, read: (_all: 'all') => readDetail(parts) })

  on('GET /', async ({ context }) => {
    const isKnown = await maySeeDetail(context, parts)
    const { failing } = await readiness.get('all')
    const read = isKnown ? await inTime(() => details.get('all')) : undefined
    const isLoaded = (name: string) => read?.deployed.has(name) ?? false
    const url = parts.publicUrl()
    const steps = isKnown ? operatorSteps(url, isLoaded) : visitorSteps(url)
    sendPage(context, toHomePage({ problems: failing, steps, detail: read?.detail }))
  })
}

/** @throws AnnexError `unauthorized` for an unknown token */
async function maySeeDetail(context: Context, { authenticate, metricsAccess }: HomeParts): Promise<boolean> {
  if (context.get('authorization') === '') return mayReadMetrics(context, metricsAccess)
  return (await authenticate(context)).kind === 'operator'
}

async function readDetail({
  longReader,
  sandboxes,
  wall,
  version,
  publicUrl,
}: HomeParts): Promise<{ detail: HomeDetail; deployed: ReadonlySet<string> }> {
  const [backlog, { integrations, more }, deployed] = await Promise.all([
    readBacklog(longReader),
    summarizeIntegrations(longReader, mostListed),
    listDeployedDigests(longReader),
  ])
  const count = (isCounted: (state: string) => boolean) =>
    backlog.jobs.reduce((sum, { state, count }) => sum + (isCounted(state) ? count : 0), 0)
  const paused = backlog.receivers.filter(({ state }) => state !== 'active')
  const detail = {
    url: publicUrl(),
    version,
    level: hasLevel(wall, 'namespace') ? 'namespace' : 'process',
    processes: sandboxes.processes().filter(({ pid }) => pid !== undefined).length,
    work: {
      queued: count((state) => state !== 'failed'),
      failed: count((state) => state === 'failed'),
      paused: paused.reduce((sum, { count }) => sum + count, 0),
    },
    integrations,
    more,
  }
  return { detail, deployed: new Set(deployed.map(({ name }) => name)) }
}
