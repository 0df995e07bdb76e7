import { createHash } from 'node:crypto'
import type { Readiness } from '../../schemas/generated/api/system.ts'
import type { Db } from '../db/db.ts'
import type { StorageProbe } from '../db/probe-storage.ts'
import { listDeployedDigests } from '../db/queries/versions.ts'
import { findLateWork } from '../queue/late-work.ts'
import type { Sandboxes } from '../sandbox/sandboxes.ts'
import { hasLevel, type Wall } from '../sandbox/wall/levels.ts'
import type { OnOperation } from './operations.ts'
import type { FirstLoad } from './still-loading.ts'

/** A database that takes longer to answer is not ready for visitors. */
const timeoutMs = 2_000

type Part = { ready: boolean; message?: string } & Record<string, unknown>

export type HealthParts = {
  db: Db
  probeStorage: StorageProbe
  sandboxes: Sandboxes
  wall: Wall
  /** How many workers take jobs, and whether Annex is stopping. */
  state: () => { workers: number; stopping: boolean }
  firstLoad: () => FirstLoad | undefined
}

/** Liveness and readiness, for supervisors and proxies. */
export function addHealthRoutes(on: OnOperation, parts: HealthParts): void {
  on('GET /healthz', () => ({ status: 'ok' }))

  on('GET /readyz', async ({ context }): Promise<Readiness> => {
    const { found, failing } = await readReadiness(parts)
    if (failing.length === 0) return { status: 'ready', ...found }
    const message = failing.join('; ')
    context.status = 503
    return {
      status: 'not ready',
      ...found,
      error: { code: 'unavailable', message, requestId: context.state.requestId },
    }
  })
}

/** The state of each part, and a text for each that is not ready. It is public. */
export async function readReadiness(
  parts: HealthParts,
): Promise<{ found: Record<string, Part>; failing: string[] }> {
  const [database, storage, versions, work] = await Promise.all([
    readDatabase(parts.db),
    readStorage(parts.probeStorage),
    readVersions(parts.db),
    readWork(parts.db),
  ])
  const found = {
    database,
    storage,
    versions,
    nativeModule: readNativeModule(parts.wall),
    sandboxes: readSandboxes(parts),
    workers: readWorkers(parts),
    work,
    folders: readFolders(parts),
  }
  const failing = Object.entries<Part>(found).filter(([, { ready }]) => !ready)
  return { found, failing: failing.map(([name, { message }]) => `${name}: ${message ?? 'not ready'}`) }
}

const readDatabase = (db: Db): Promise<Part> =>
  readInTime(async () => {
    // After a failed sync the database refuses transactions, and answers reads.
    await db.transaction((transaction) => transaction.raw('select 1'))
    return { ready: true }
  })

/** Names the error code that publishing would get. */
async function readStorage(probe: StorageProbe): Promise<Part> {
  const { error } = await probe()
  if (error === undefined) return { ready: true }
  const what = error === 'storage_full' ? 'the disk of the database is full' : 'the database takes no writes'
  return { ready: false, message: `${what} (${error})` }
}

/** The deployed versions. Hosts of one database show the same digest. */
const readVersions = (db: Db): Promise<Part> =>
  readInTime(async () => {
    const deployed = await listDeployedDigests(db)
    const digest = createHash('sha256').update(
      JSON.stringify(deployed.map(({ name, digest }) => [name, digest])),
    )
    return { ready: true, deployed: deployed.length, digest: digest.digest('hex') }
  })

/** Late work makes no host unready: without this host it would be later still. */
const readWork = (db: Db): Promise<Part> =>
  readInTime(async () => {
    const late = await findLateWork(db)
    const seconds = late.map(({ kind, dueForMs }) => [kind, Math.round(dueForMs / 1_000)])
    return { ready: true, ...(late.length > 0 && { lateSeconds: Object.fromEntries(seconds) }) }
  })

// The page is public: an error's text holds addresses and names, so it stays in the log.
const late: Part = { ready: false, message: `it fails, or does not answer within ${timeoutMs} ms` }

const readInTime = async (read: () => Promise<Part>): Promise<Part> => (await inTime(read)) ?? late

/** @returns undefined when the read fails or takes too long */
export async function inTime<T>(read: () => Promise<T>): Promise<T | undefined> {
  const { promise: timeout, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(reject, timeoutMs)
  try {
    return await Promise.race([read(), timeout])
  } catch {
    return undefined
  } finally {
    clearTimeout(timer)
  }
}

/** The start has tested it with a real sandbox process: Annex does not run without it. */
const readNativeModule = (wall: Wall): Part => ({
  ready: hasLevel(wall, 'isolate'),
  name: 'isolated-vm',
  node: process.version,
})

function readSandboxes({ sandboxes, wall }: Pick<HealthParts, 'sandboxes' | 'wall'>): Part {
  const level = hasLevel(wall, 'namespace') ? 'namespace' : 'process'
  return {
    ready: hasLevel(wall, 'process'),
    level,
    levels: Object.fromEntries(wall.levels.map(({ name, reached }) => [name, reached])),
    // The slot of a script that runs alone has its installation's id, which is not public.
    processes: sandboxes.processes().map(({ slot, pid }) => ({
      slot: slot.replace(/!.*/, '!alone'),
      level,
      running: pid !== undefined,
    })),
  }
}

function readWorkers({ state }: Pick<HealthParts, 'state'>): Part {
  const { workers, stopping } = state()
  if (stopping) return { ready: false, running: workers, message: 'Annex is stopping' }
  return { ready: true, running: workers }
}

/** The folders' names are not public. */
function readFolders({ firstLoad }: HealthParts): Part {
  const load = firstLoad()
  if (load === undefined) return { ready: true }
  const { loaded, total } = load
  return { ready: false, loaded, total, message: `${loaded} of ${total} plugin folders are loaded` }
}
