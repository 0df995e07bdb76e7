import { join } from 'node:path'
import type { Logger } from 'pino'
import type { SecretBox } from '../access/secret-box.ts'
import { buildPrelude, loadProcessCode } from '../bundle/build-runtime.ts'
import type { Settings } from '../config/load-settings.ts'
import type { GroupCommit } from '../db/group-commit.ts'
import type { Database } from '../db/open-database.ts'
import type { Egress } from '../egress/egress.ts'
import type { OwnApi } from '../egress/own-api.ts'
import { createTaskCall } from '../events/tasks.ts'
import type { MissedCalls } from '../installations/missed-calls.ts'
import { createStorage } from '../installations/storage.ts'
import { createStorageCalls } from '../installations/storage-calls.ts'
import type { LogWriter } from '../logs/create-log-writer.ts'
import type { Metrics } from '../metrics/create-metrics.ts'
import { createBacklogQuota } from '../queue/backlog.ts'
import { createFetchCall } from '../sandbox/fetch-call.ts'
import { createHostCalls, type HostCalls } from '../sandbox/host-calls.ts'
import { cacheSnapshot, makeSnapshot } from '../sandbox/process/snapshot.ts'
import { type StartProcess, startProcess } from '../sandbox/process/start-process.ts'
import type { OnReceipt } from '../sandbox/receipt.ts'
import type { SandboxLimits } from '../sandbox/sandbox-options.ts'
import { createSandboxes, type Sandboxes } from '../sandbox/sandboxes.ts'
import type { SandboxTarget } from '../sandbox/target.ts'
import { createTryLoad } from '../sandbox/try-load.ts'
import { findEnclosure } from '../sandbox/wall/find-enclosure.ts'
import { describeWall, type Wall } from '../sandbox/wall/levels.ts'
import { reachWall } from '../sandbox/wall/reach-wall.ts'
import type { TryLoad } from '../versions/try-version.ts'
import { createDeliveryCall } from '../webhooks/delivery-call.ts'
import type { DeliveryHosts } from '../webhooks/delivery-hosts.ts'

/** Results that a test keeps from one start to the next: each costs a process. */
export type Reuse = {
  wall: (required: readonly string[], reach: () => Promise<Wall>) => Promise<Wall>
  tryLoad: (tryLoad: TryLoad) => TryLoad
}

/**
 * Tries the wall, builds the web platform for isolates, and starts the sandbox processes.
 *
 * @param ends closes the processes
 * @throws AnnexError `sandbox_unavailable`
 */
export async function startSandboxes(
  given: {
    settings: Settings
    dataDir: string
    hostCalls: HostCalls
    logs: LogWriter
    logger: Logger
    metrics: Metrics
    onReceipt: OnReceipt
    onSuspend: (target: SandboxTarget, reason: string) => void
    reuse: Reuse | undefined
    /** Default: processes behind the wall. */
    startProcess: StartProcess | undefined
  },
  ends: AsyncDisposableStack,
): Promise<{ sandboxes: Sandboxes; tryLoad: TryLoad; wall: Wall }> {
  const { settings, logs, logger, metrics, reuse } = given
  const cacheFolder = join(given.dataDir, 'cache')
  const code = await loadProcessCode({ cacheFolder })
  const reach = async () => reachWall(code.probe, settings.SANDBOX_REQUIRE, await findEnclosure())
  const wall = await (reuse === undefined ? reach() : reuse.wall(settings.SANDBOX_REQUIRE, reach))
  logger.info({ levels: describeWall(wall), probeMs: wall.probeMs }, 'the wall around sandboxes')
  for (const { name, reached, shown, fix } of wall.levels) {
    if (!reached) logger.warn({ level: name, reason: shown, fix }, 'a level of the wall is not reached')
  }
  const { enclosure } = wall
  const { code: prelude, digest } = await buildPrelude({ cacheFolder })
  const snapshot = await cacheSnapshot({
    cacheFolder,
    digest,
    make: () => makeSnapshot({ enclosure, code: code.snapshotMaker }, prelude),
  })
  const start: StartProcess =
    given.startProcess ?? ((onErrorOutput) => startProcess(onErrorOutput, { enclosure, code: code.main }))
  const platform = snapshot === undefined ? { text: prelude } : { body: snapshot }
  const sandboxes = createSandboxes({
    start,
    platform,
    limits: limitsOf(settings),
    processes: settings.SANDBOX_PROCESSES,
    processesMax: settings.SANDBOX_PROCESSES_MAX,
    keepsSpare: settings.SANDBOX_SPARE,
    hostCalls: given.hostCalls,
    onLog(source, level, text) {
      if (source === undefined) return logger.warn({ text }, 'sandbox process')
      const { integration, version, installationId = null, requestId = null } = source
      logs.write({ integration, version, installationId, requestId, level, text })
    },
    onLimit: metrics.observeLimit,
    onReceipt(receipt) {
      metrics.observeReceipt(receipt)
      given.onReceipt(receipt)
    },
    onSuspend: given.onSuspend,
    onProcessEnd(slot, cause) {
      metrics.observeProcessEnd(slot, cause.kind)
      logger.warn({ slot, cause }, 'sandbox process ended; started again')
    },
  })
  ends.defer(sandboxes.close)
  const trials = createTryLoad({ start, platform, limits: limitsOf(settings) })
  ends.defer(trials.close)
  return { sandboxes, tryLoad: reuse?.tryLoad(trials.tryLoad) ?? trials.tryLoad, wall }
}

export const limitsOf = (settings: Settings): SandboxLimits & { pending: number } => ({
  heapMb: settings.SANDBOX_HEAP_MB,
  residentMb: settings.SANDBOX_RESIDENT_MB,
  cpuMs: settings.SANDBOX_CPU_MS,
  loadMs: settings.SANDBOX_LOAD_MS,
  waitUntilMs: settings.SANDBOX_WAIT_UNTIL_MS,
  timers: settings.SANDBOX_TIMERS,
  allowEval: settings.SANDBOX_EVAL,
  logLines: settings.SANDBOX_LOG_LINES,
  logBytes: settings.SANDBOX_LOG_BYTES,
  wallMs: settings.SANDBOX_WALL_MS,
  bodyBytes: settings.SANDBOX_BODY_BYTES,
  fetchBytes: settings.SANDBOX_FETCH_BYTES,
  calls: settings.SANDBOX_CALLS,
  callsAtOnce: settings.SANDBOX_CALLS_AT_ONCE,
  fetches: settings.SANDBOX_FETCHES,
  pending: settings.SANDBOX_PENDING,
})

/**
 * The table of host calls.
 *
 * @param given.egress sends the requests of scripts
 * @param given.ownApi answers those that are for the API of Annex
 * @param given.publicUrl a script may call Annex itself without declaring it
 */
export function createCalls(given: {
  settings: Settings
  database: Database
  commits: GroupCommit
  box: SecretBox
  egress: Egress
  ownApi: OwnApi
  hosts: DeliveryHosts
  publicUrl: () => string
  onDefect: (error: unknown) => void
  onMissed: MissedCalls['note']
}): HostCalls {
  const { settings, database, commits, box, egress, ownApi, hosts, publicUrl, onDefect, onMissed } = given
  const { db, reader } = database
  const backlog = createBacklogQuota(reader, {
    jobs: settings.BACKLOG_DELIVERIES,
    bytes: settings.BACKLOG_MB * 1024 * 1024,
  })
  const storage = createStorage(
    { db, reader, box, onMissed },
    { valueBytes: settings.STORAGE_VALUE_BYTES, levelBytes: settings.STORAGE_LEVEL_MB * 1024 * 1024 },
  )
  const limits = {
    timeoutMs: settings.SANDBOX_FETCH_MS,
    maxBytes: settings.SANDBOX_FETCH_BYTES,
    inFlight: settings.SANDBOX_FETCHES_AT_ONCE,
  }
  return createHostCalls(
    [
      createFetchCall({ egress, ownApi }, limits, declaredRules(settings, egress, publicUrl)),
      createDeliveryCall(reader, { commits, backlog, hosts }),
      createTaskCall(db),
      ...createStorageCalls(storage),
    ],
    onDefect,
  )
}

/** What applies to the hosts that manifests declare. */
export const declaredRules = (settings: Settings, egress: Egress, publicUrl: () => string) => ({
  isRequired: settings.EGRESS_REQUIRE_DECLARED,
  isOwn: (urlOrigin: string) => egress.isOwn(urlOrigin) || urlOrigin === URL.parse(publicUrl())?.origin,
})
