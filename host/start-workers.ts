import type { Logger } from 'pino'
import type { Settings } from './config/load-settings.ts'
import type { Clock } from './db/database-clock.ts'
import type { Commits } from './db/group-commit.ts'
import type { Database } from './db/open-database.ts'
import type { Job } from './db/queries/jobs.ts'
import { createRunEvent } from './events/run-event.ts'
import type { PrepareDispatch } from './installations/prepare-dispatch.ts'
import type { ReportFailure } from './installations/report-failure.ts'
import { createWorker, type Worker } from './jobs/create-worker.ts'
import { defaultSchedule, type RetrySchedule } from './jobs/retry-schedule.ts'
import type { LogWriter } from './logs/create-log-writer.ts'
import type { Sandboxes } from './sandbox/sandboxes.ts'
import { createGiveUp } from './webhooks/give-up-endpoint.ts'
import { createRunResend } from './webhooks/operating/resend.ts'
import { createRunDelivery, type OnAttempt } from './webhooks/run-delivery.ts'
import type { Sender } from './webhooks/sending/start-sender.ts'
import type { SecretReader } from './webhooks/signing-secrets.ts'

const scriptsAtOnce = 64
/** A quarter of all, to leave turns for others; more cost less each, as they share commits. */
const scriptsPerInstallation = 16
/** An endpoint that fails ten times in a row is left alone for five seconds, then for longer, up to five minutes. */
const circuit = { failures: 10, firstMs: 5_000, longestMs: 300_000 }

const resendsAtOnce = 4

/** What every worker needs. */
export type WorkerParts = Commits & {
  /** What claims carry. */
  hostId: string
  database: Database
  clock: Clock
  settings: Settings
  logger: Logger
}

/** Begins with events and tasks that are owed to scripts. */
export function startScripts(
  parts: WorkerParts,
  given: { sandboxes: Sandboxes; prepareDispatch: PrepareDispatch; report: ReportFailure },
): Promise<Worker> {
  const { clock, settings } = parts
  const runEvent = createRunEvent({ ...given, schedule: toSchedule(settings), clock, random: Math.random })
  return createWorker({
    ...toShared(parts),
    handlers: { event: runEvent, task: runEvent },
    concurrency: scriptsAtOnce,
    lanes: { most: scriptsPerInstallation, first: scriptsPerInstallation },
  })
}

/** Begins with deliveries that are owed. They have a worker of their own, so that scripts and they wait for nothing of each other's. */
export function startDeliveries(
  parts: WorkerParts,
  given: {
    secrets: SecretReader
    send: Sender['send']
    logs: LogWriter
    onAttempt: OnAttempt
    /** Whether all of Annex has started. */
    isStarted: () => boolean
  },
): Promise<Worker> {
  const { database, clock, settings } = parts
  const { secrets, send, onAttempt, isStarted } = given
  const runDelivery = createRunDelivery({
    ...{ secrets, send, onAttempt, clock, random: Math.random, schedule: toSchedule(settings) },
    timeoutMs: settings.DELIVERY_TIMEOUT_MS,
    standard: settings.DELIVERY_STANDARD_WEBHOOKS,
    giveUpAfterMs: settings.DELIVERY_GIVE_UP_HOURS * 3_600_000,
    giveUp: createGiveUp(given.logs),
  })
  const { DELIVERY_CONCURRENCY: concurrency, DELIVERY_PER_ENDPOINT: perEndpoint } = settings
  // On SQLite this thread does nothing else while it stores the last ones: what sends has the next at hand then. Not while Annex
  // starts, which keeps it from storing for longer: all that was sent meanwhile would come again after a kill.
  const more = (atOnce: number) => (database.dialect === 'sqlite' ? Math.ceil(atOnce / 2) : 0)
  return createWorker({
    ...toShared(parts),
    handlers: { delivery: runDelivery },
    concurrency,
    ahead: () => (isStarted() ? more(concurrency) : 0),
    lanes: { most: perEndpoint + more(perEndpoint), first: Math.min(4, perEndpoint), circuit },
  })
}

/**
 * Begins with resends that have been asked for. They are few, and need not be looked for whenever there is other work.
 *
 * @param wake wakes the workers of this host and of the others
 */
export const startResends = (parts: WorkerParts, wake: () => void): Promise<Worker> =>
  createWorker({
    ...toShared(parts),
    handlers: { resend: createRunResend({ db: parts.database.db, clock: parts.clock, wake }) },
    concurrency: resendsAtOnce,
    lanes: { most: 1, first: 1 },
  })

const toSchedule = ({ DELIVERY_RETRY_SECONDS: seconds }: Settings): RetrySchedule => ({
  ...defaultSchedule,
  delaysMs: seconds.map((one) => one * 1_000),
})

const toShared = ({ hostId, database, commits, claims, clock, logger }: WorkerParts) => ({
  ...{ hostId, database, commits, claims, clock, random: Math.random },
  onDefect: (error: unknown, job?: Job) => logger.error({ err: error, job: job?.id }, 'defect'),
})
