import type { Logger } from 'pino'
import type { Settings } from './config/load-settings.ts'
import type { Clock } from './db/database-clock.ts'
import type { Commits } from './db/group-commit.ts'
import type { Database } from './db/open-database.ts'
import type { Job } from './db/queries/jobs.ts'
import { createRunEvent } from './events/run-event.ts'
import type { PrepareDispatch } from './installations/prepare-dispatch.ts'
import type { ReportFailure } from './installations/report-failure.ts'
import { createWorker, type Wake, type Worker } from './jobs/create-worker.ts'
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

export type Workers = {
  /** Events, tasks and deliveries may be due. */
  wake: Wake
  /** A resend has begun. */
  wakeResends: () => void
  /** Takes over what hosts had claimed that are gone. */
  takeOver: (hostIds: readonly string[]) => Promise<void>
  /** Endpoints that are left alone for a while. */
  openCircuits: () => number
  count: number
  /** Ends them, one after the other: each lets what runs come to its end. */
  close: () => Promise<void>
}

/**
 * Begins with what is owed. Scripts and deliveries have workers of their own: neither waits for the other. So have resends,
 * which are few, and need not be looked for whenever there is other work.
 */
export async function startWorkers(
  given: Commits & {
    /** What claims carry. */
    hostId: string
    database: Database
    clock: Clock
    settings: Settings
    secrets: SecretReader
    send: Sender['send']
    sandboxes: Sandboxes
    prepareDispatch: PrepareDispatch
    report: ReportFailure
    logs: LogWriter
    logger: Logger
    onAttempt: OnAttempt
    /** Wakes the workers of this host and of the others. */
    wake: () => void
  },
): Promise<Workers> {
  const { hostId, database, commits, claims, clock, settings, logger } = given
  const schedule: RetrySchedule = {
    ...defaultSchedule,
    delaysMs: settings.DELIVERY_RETRY_SECONDS.map((seconds) => seconds * 1_000),
  }
  const { random } = Math
  const shared = {
    ...{ hostId, database, commits, claims, clock, random },
    onDefect: (error: unknown, job?: Job) => logger.error({ err: error, job: job?.id }, 'defect'),
  }
  const { sandboxes, prepareDispatch, report } = given
  const runEvent = createRunEvent({ sandboxes, prepareDispatch, report, schedule, clock, random })
  const runDelivery = createRunDelivery({
    ...{ secrets: given.secrets, clock, random, schedule },
    send: given.send,
    timeoutMs: settings.DELIVERY_TIMEOUT_MS,
    standard: settings.DELIVERY_STANDARD_WEBHOOKS,
    giveUpAfterMs: settings.DELIVERY_GIVE_UP_HOURS * 3_600_000,
    giveUp: createGiveUp(given.logs),
    onAttempt: given.onAttempt,
  })
  const scripts = await createWorker({
    ...shared,
    handlers: { event: runEvent, task: runEvent },
    concurrency: scriptsAtOnce,
    lanes: { most: scriptsPerInstallation, first: scriptsPerInstallation },
  })
  // On SQLite this thread does nothing else while it stores the last ones: what sends has the next at hand then.
  const claimed = (atOnce: number) => (database.dialect === 'sqlite' ? Math.ceil(1.5 * atOnce) : atOnce)
  const perEndpoint = settings.DELIVERY_PER_ENDPOINT
  const deliveries = await createWorker({
    ...shared,
    handlers: { delivery: runDelivery },
    concurrency: claimed(settings.DELIVERY_CONCURRENCY),
    lanes: { most: claimed(perEndpoint), first: Math.min(4, perEndpoint), circuit },
  })
  const resends = await createWorker({
    ...shared,
    handlers: { resend: createRunResend({ db: database.db, clock, wake: given.wake }) },
    concurrency: resendsAtOnce,
    lanes: { most: 1, first: 1 },
  })
  const all: Worker[] = [scripts, deliveries, resends]
  return {
    wake(...woken) {
      scripts.wake(...woken)
      deliveries.wake(...woken)
    },
    wakeResends: () => resends.wake(),
    async takeOver(hostIds) {
      for (const worker of all) await worker.takeOver(hostIds)
    },
    openCircuits: deliveries.openCircuits,
    count: all.length,
    async close() {
      for (const worker of all.toReversed()) await worker.close()
    },
  }
}
