import type { Logger } from 'pino'
import type { Settings } from '../config/load-settings.ts'
import type { GroupCommit } from '../db/group-commit.ts'
import type { Database } from '../db/open-database.ts'
import type { Job } from '../db/queries/jobs.ts'
import { createRunEvent } from '../events/run-event.ts'
import type { PermissionUses } from '../installations/permission-uses.ts'
import type { PrepareDispatch } from '../installations/prepare-dispatch.ts'
import type { ReportFailure } from '../installations/report-failure.ts'
import type { LogWriter } from '../logs/create-log-writer.ts'
import type { KnownSecrets } from '../logs/known-secrets.ts'
import { defaultSchedule, type RetrySchedule } from '../queue/retry-schedule.ts'
import { createWorker, type Worker } from '../queue/worker.ts'
import type { Sandboxes } from '../sandbox/sandboxes.ts'
import type { DeliveryHosts } from '../webhooks/delivery-hosts.ts'
import { createDisable } from '../webhooks/receiver-health.ts'
import { createRunDelivery, type OnAttempt, type Send } from '../webhooks/run-delivery.ts'
import type { SecretReader } from '../webhooks/signing-secrets.ts'

type WorkerParts = {
  database: Database
  commits: GroupCommit
  /** Leases carry it. */
  hostId: string
  settings: Settings
  logger: Logger
}

/** Ten failures in a row open the circuit of a receiver for five seconds, then for longer, up to five minutes. */
const circuit = { failures: 10, firstMs: 5_000, longestMs: 300_000 }
const scriptsInFlight = 512
/** Runs of these whose scripts wait to be loaded. One takes about 20 ms. */
const scriptsWaiting = 64
const scriptsPerInstallation = 32

/** The worker for deliveries. Scripts have another worker: neither waits for the other. */
export function startDeliveries(
  parts: WorkerParts,
  given: { secrets: SecretReader; hosts: DeliveryHosts; send: Send; logs: LogWriter; onAttempt: OnAttempt },
): Promise<Worker> {
  const { settings } = parts
  const { secrets, hosts, send, logs, onAttempt } = given
  const runDelivery = createRunDelivery({
    secrets,
    hosts,
    send,
    onAttempt,
    clock: parts.database.clock,
    random: Math.random,
    schedule: toSchedule(settings),
    timeoutMs: settings.DELIVERY_TIMEOUT_MS,
    standard: settings.DELIVERY_STANDARD_WEBHOOKS,
    giveUpAfterMs: settings.DELIVERY_GIVE_UP_HOURS * 3_600_000,
    disable: createDisable(logs),
  })
  const { DELIVERY_CONCURRENCY: concurrency, DELIVERY_PER_RECEIVER: perReceiver } = settings
  return createWorker({
    ...toShared(parts),
    handlers: { delivery: runDelivery },
    concurrency,
    lanes: { most: perReceiver, first: Math.min(4, perReceiver), circuit },
  })
}

/** The worker for events and tasks. */
export function startScripts(
  parts: WorkerParts,
  given: {
    sandboxes: Sandboxes
    prepareDispatch: PrepareDispatch
    report: ReportFailure
    onScopeUsed: PermissionUses['note']
    secrets: KnownSecrets
  },
): Promise<Worker> {
  const { db, clock } = parts.database
  const schedule = toSchedule(parts.settings)
  const runEvent = createRunEvent({ ...given, db, schedule, clock, random: Math.random })
  return createWorker({
    ...toShared(parts),
    handlers: { event: runEvent, task: runEvent },
    concurrency: scriptsInFlight,
    waiting: scriptsWaiting,
    lanes: { most: scriptsPerInstallation, first: scriptsPerInstallation },
  })
}

const toSchedule = ({ DELIVERY_RETRY_SECONDS: seconds }: Settings): RetrySchedule => ({
  ...defaultSchedule,
  delaysMs: seconds.map((one) => one * 1_000),
})

const toShared = ({ hostId, database, commits, logger }: WorkerParts) => ({
  hostId,
  database,
  commits,
  clock: database.clock,
  random: Math.random,
  onDefect: (error: unknown, job?: Job) => logger.error({ err: error, job: job?.id }, 'defect'),
})
