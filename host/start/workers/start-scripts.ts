import { createRunEvent } from '../../events/run-event.ts'
import type { PrepareDispatch } from '../../installations/prepare-dispatch.ts'
import type { ReportFailure } from '../../installations/report-failure.ts'
import { createWorker, type Worker } from '../../queue/worker.ts'
import type { Sandboxes } from '../../sandbox/sandboxes.ts'
import { createRunResend } from '../../webhooks/operating/resend.ts'
import { toSchedule, toShared, type WorkerParts } from './worker-parts.ts'

const scriptsInFlight = 512
const scriptsPerInstallation = 16
const resendsAtOnce = 4

/** The worker for events and tasks. */
export function startScripts(
  parts: WorkerParts,
  given: { sandboxes: Sandboxes; prepareDispatch: PrepareDispatch; report: ReportFailure },
): Promise<Worker> {
  const { clock, settings } = parts
  const runEvent = createRunEvent({ ...given, schedule: toSchedule(settings), clock, random: Math.random })
  return createWorker({
    ...toShared(parts),
    handlers: { event: runEvent, task: runEvent },
    concurrency: scriptsInFlight,
    lanes: { most: scriptsPerInstallation, first: scriptsPerInstallation },
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
    handlers: { resend: createRunResend({ db: parts.database.longReader, clock: parts.clock, wake }) },
    concurrency: resendsAtOnce,
    lanes: { most: 1, first: 1 },
  })
