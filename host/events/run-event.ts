import type { DispatchMessage } from '../../runtime/bridge.ts'
import { createId } from '../db/ids.ts'
import type { Db } from '../db/open-database.ts'
import { type Job, releaseWaitingJobs } from '../db/queries/jobs.ts'
import { isHeld } from '../db/queries/suspensions.ts'
import { isAnnexError, messageOf } from '../errors/annex-error.ts'
import type { ErrorCode } from '../errors/codes.ts'
import { activateWithoutSettings } from '../installations/configure.ts'
import { type PrepareDispatch, type PreparedLevel, toContext } from '../installations/prepare-dispatch.ts'
import type { ReportFailure } from '../installations/report-failure.ts'
import type { EventJob } from '../installations/setup-event.ts'
import type { JobHandler, JobOutcome } from '../jobs/create-worker.ts'
import { defaultSchedule, nextStep } from '../jobs/retry-schedule.ts'
import { assertHandled, type Sandboxes } from '../sandbox/sandboxes.ts'

const holding: ReadonlySet<ErrorCode> = new Set(['installation_paused', 'installation_suspended'])

/**
 * Does a job of kind `event` or `task`: gives it to its level's handler. A handler that fails is tried again on
 * the schedule of webhooks (spec 8), then the job is kept as failed.
 */
export function createRunEvent(given: {
  sandboxes: Sandboxes
  prepareDispatch: PrepareDispatch
  report: ReportFailure
}): JobHandler {
  const { sandboxes, prepareDispatch } = given
  return async (job) => {
    const { level, event } = JSON.parse(job.subject) as EventJob
    const requestId = createId('req')
    try {
      const prepared = await prepareDispatch.prepare(level)
      await handle(prepared, event, requestId)
      return { next: { state: 'done' }, settle: (transaction) => settle(transaction, prepared, event) }
    } catch (error) {
      if (isAnnexError(error) && holding.has(error.code)) return wait(job, level, error.message)
      given.report(level, requestId, error)
      const reason = `${messageOf(error)} (request ${requestId})`
      // Gone while the event was owed: nobody is left to handle it.
      if (isAnnexError(error) && error.code === 'not_found') return { next: { state: 'failed', reason } }
      const step = nextStep(defaultSchedule, job.attempt, {}, { nowMs: Date.now(), random: Math.random })
      return { next: step.state === 'due' ? { ...step, reason } : { state: 'failed', reason } }
    }
  }

  /** Paused or suspended: what is owed is kept, however long that takes. */
  function wait(job: Job, level: EventJob['level'], reason: string): JobOutcome {
    return {
      next: { state: 'waiting', reason },
      async settle(transaction) {
        if (!(await isHeld(transaction, level))) await releaseWaitingJobs(transaction, [job.lane])
      },
    }
  }

  async function handle(prepared: PreparedLevel, event: EventJob['event'], requestId: string): Promise<void> {
    const { target, environment, records } = prepared
    const message: DispatchMessage = { event }
    const context = toContext(records, {
      requestId,
      hops: 0,
      event: { id: event.eventId, type: event.type },
    })
    assertHandled(
      await sandboxes.dispatch({ target, environment, message: JSON.stringify(message), context }),
    )
  }

  async function settle(transaction: Db, prepared: PreparedLevel, event: EventJob['event']): Promise<void> {
    if (!event.type.endsWith('installation_setup')) return
    const { manifest, installation, target } = prepared.records
    if (installation === undefined) return
    await activateWithoutSettings(transaction, manifest, { installation, ...(target && { target }) })
    prepareDispatch.forget()
  }
}
