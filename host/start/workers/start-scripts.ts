import { createRunEvent } from '../../events/run-event.ts'
import type { PrepareDispatch } from '../../installations/prepare-dispatch.ts'
import type { ReportFailure } from '../../installations/report-failure.ts'
import { createWorker, type Worker } from '../../queue/worker.ts'
import type { Sandboxes } from '../../sandbox/sandboxes.ts'
import { toSchedule, toShared, type WorkerParts } from './worker-parts.ts'

const scriptsInFlight = 512
const scriptsPerInstallation = 32

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
