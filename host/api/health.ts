import { createHash } from 'node:crypto'
import type Router from '@koa/router'
import type { Db } from '../db/db.ts'
import type { StorageProbe } from '../db/probe-storage.ts'
import { listDeployedDigests } from '../db/queries/integrations.ts'
import { hasLevel, type Wall } from '../sandbox/wall/levels.ts'
import type { RouteParts } from './parts.ts'

/** A database that takes longer to say nothing is not one to send visitors to. */
const patienceMs = 2_000

type Part = { ready: boolean; message?: string } & Record<string, unknown>

/** For whoever watches the process. */
export function addHealthRoutes(router: Router, parts: RouteParts): void {
  /** The process answers. Touches nothing else, the database least of all. */
  router.get('/healthz', (context) => {
    context.body = { status: 'ok' }
  })

  /** Every part that a request or a job needs, and how it is. 503 when one of them is not ready. */
  router.get('/readyz', async (context) => {
    const { found, failing } = await readReadiness(parts)
    if (failing.length === 0) {
      context.body = { status: 'ready', ...found }
      return
    }
    const message = failing.join('; ')
    context.status = 503
    context.body = {
      status: 'not ready',
      ...found,
      error: { code: 'unavailable', message, requestId: context.state.requestId },
    }
  })
}

/** How each part is, and a text for each that is not ready. Everybody may see it. */
export async function readReadiness(
  parts: RouteParts,
): Promise<{ found: Record<string, Part>; failing: string[] }> {
  const [database, storage, versions] = await Promise.all([
    readDatabase(parts.db),
    readStorage(parts.probeStorage),
    readVersions(parts.db),
  ])
  const found = {
    database,
    storage,
    versions,
    nativeModule: readNativeModule(parts.wall),
    sandboxes: readSandboxes(parts),
    workers: readWorkers(parts),
  }
  const failing = Object.entries<Part>(found).filter(([, { ready }]) => !ready)
  return { found, failing: failing.map(([name, { message }]) => `${name}: ${message ?? 'not ready'}`) }
}

const readDatabase = (db: Db): Promise<Part> =>
  readInTime(async () => {
    // One whose disk has failed takes no transaction any more.
    await db.transaction((transaction) => transaction.raw('select 1'))
    return { ready: true }
  })

/** Publishing would be refused with the same code. */
async function readStorage(probe: StorageProbe): Promise<Part> {
  const { error } = await probe()
  if (error === undefined) return { ready: true }
  const what = error === 'storage_full' ? 'the disk of the database is full' : 'the database takes no writes'
  return { ready: false, message: `${what} (${error})` }
}

/** What this host runs. Hosts of one database show the same digest. */
const readVersions = (db: Db): Promise<Part> =>
  readInTime(async () => {
    const deployed = await listDeployedDigests(db)
    const digest = createHash('sha256').update(
      JSON.stringify(deployed.map(({ name, digest }) => [name, digest])),
    )
    return { ready: true, deployed: deployed.length, digest: digest.digest('hex') }
  })

// Everybody may ask: the failure itself holds addresses and names, and is in the log of the part that needed it.
const late: Part = { ready: false, message: `it fails, or does not answer within ${patienceMs} ms` }

const readInTime = async (read: () => Promise<Part>): Promise<Part> => (await inTime(read)) ?? late

/** @returns undefined when it fails, or takes longer than a visitor waits */
export async function inTime<T>(read: () => Promise<T>): Promise<T | undefined> {
  const { promise: patience, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(reject, patienceMs)
  try {
    return await Promise.race([read(), patience])
  } catch {
    return undefined
  } finally {
    clearTimeout(timer)
  }
}

/** Tried at start by a real sandbox process: without it Annex would not run. */
const readNativeModule = (wall: Wall): Part => ({
  ready: hasLevel(wall, 'isolate'),
  name: 'isolated-vm',
  node: process.version,
})

function readSandboxes({ sandboxes, wall }: Pick<RouteParts, 'sandboxes' | 'wall'>): Part {
  const level = hasLevel(wall, 'namespace') ? 'namespace' : 'process'
  return {
    ready: hasLevel(wall, 'process'),
    level,
    levels: Object.fromEntries(wall.levels.map(({ name, reached }) => [name, reached])),
    // The slot of a script that runs alone has its installation's id, which is nobody's business here.
    processes: sandboxes.processes().map(({ slot, pid }) => ({
      slot: slot.replace(/!.*/, '!alone'),
      level,
      running: pid !== undefined,
    })),
  }
}

function readWorkers({ state }: Pick<RouteParts, 'state'>): Part {
  const { workers, stopping } = state()
  if (stopping) return { ready: false, running: workers, message: 'Annex is stopping' }
  return { ready: true, running: workers }
}
