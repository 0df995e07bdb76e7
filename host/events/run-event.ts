import type { DispatchMessage } from '../../runtime/bridge.ts'
import { eventRules, scopesFor } from '../../schemas/events.ts'
import type { Origin } from '../access/actor.ts'
import type { Clock } from '../db/database-clock.ts'
import type { Db } from '../db/db.ts'
import { createId } from '../db/ids.ts'
import { type Job, mostInterruptions } from '../db/queries/jobs.ts'
import { installationOf, type Level } from '../db/queries/levels.ts'
import { releaseJobs } from '../db/queries/release-waiting.ts'
import { isHeld } from '../db/queries/suspensions.ts'
import { AnnexError, type ErrorCode, isAnnexError, messageOf } from '../errors.ts'
import { activateAfterSetup } from '../installations/configure.ts'
import { type SetupFailure, storeSetupFailure, toSetupFailure } from '../installations/failed-setup.ts'
import { isBeingSetUp } from '../installations/level-settings.ts'
import type { PermissionUses } from '../installations/permission-uses.ts'
import { type PrepareDispatch, type PreparedLevel, toContext } from '../installations/prepare-dispatch.ts'
import type { ReportFailure } from '../installations/report-failure.ts'
import {
  type EventJob,
  isLastEvent,
  openEvent,
  parseSubject,
  secretsOfEvent,
} from '../installations/setup-event.ts'
import { endAfterLastEvent } from '../installations/uninstall.ts'
import { environmentSecrets, type KnownSecrets } from '../logs/known-secrets.ts'
import { handleEach, type JobHandler, type JobOutcome, stored } from '../queue/job-handler.ts'
import { nextStep, type RetrySchedule } from '../queue/retry-schedule.ts'
import { CutOffError, ScriptError } from '../sandbox/sandbox-errors.ts'
import { assertHandled, type Sandboxes } from '../sandbox/sandboxes.ts'

/** Enough time for the next sandbox process to start. */
const againAfterMs = 1_000

const holding: ReadonlySet<ErrorCode> = new Set(['installation_paused', 'installation_suspended'])

/**
 * Runs jobs of kind `event` and `task` by their level's handler. A failed handler is retried on the schedule of webhooks
 * (spec 8); then the job is stored as failed. An interrupted handler did not fail: it runs again, up to
 * `mostInterruptions` times.
 */
export function createRunEvent(given: {
  db: Db
  sandboxes: Sandboxes
  prepareDispatch: PrepareDispatch
  report: ReportFailure
  onScopeUsed: PermissionUses['note']
  /** The reason of a failure may be a text of the script. */
  secrets: Pick<KnownSecrets, 'learn' | 'redact'>
  schedule: RetrySchedule
  clock: Clock
  random: () => number
}): JobHandler {
  const { sandboxes, prepareDispatch, clock, secrets, onScopeUsed } = given
  return handleEach((job, onBegin) => {
    const subject = parseSubject(job.subject)
    return isLastEvent(subject.event) ? runLast(job, subject, onBegin) : run(job, subject, onBegin)
  })

  /** Removes the level after its last event, also when the handler has failed or this event has suspended the script. */
  async function runLast(job: Job, subject: EventJob, onBegin: () => void): Promise<JobOutcome> {
    const { move } = await run(job, subject, onBegin)
    if (move.state === 'due') return { move }
    return {
      move: move.state === 'waiting' ? { ...move, state: 'failed' } : move,
      stores: [stored(end, subject.level)],
    }
  }

  async function run(job: Job, { level, event }: EventJob, onBegin: () => void): Promise<JobOutcome> {
    const requestId = createId('req')
    const { schedule } = given
    // All runs were interrupted, so the handler itself seems to be the cause.
    if (job.attempt > schedule.delaysMs.length + 1) {
      const reason = `Its host ended while it was handled, each of the last ${job.attempt - 1} times. Request ${requestId}.`
      return { move: { state: 'failed', reason } }
    }
    const isSetup = event.type.endsWith('installation_setup')
    let prepared: PreparedLevel | undefined
    try {
      prepared = await prepareDispatch[isLastEvent(event) ? 'prepareLast' : 'prepare'](level)
      const { own, manifest } = prepared.records
      const installation = own && installationOf(own)
      if (Object.hasOwn(eventRules, event.type) && installation?.status === 'pending') {
        const reason = `The setup event of ${installation.id} is not handled yet.`
        const [now, dueAtMs] = [clock.now(), clock.now() + againAfterMs]
        return isBeingSetUp(manifest, installation, now)
          ? { move: { state: 'due', dueAtMs, reason, run: 'not begun' } }
          : { move: { state: 'failed', reason } }
      }
      const opened = openEvent(given.db, event)
      secrets.learn(prepared.target.key, previousSecrets(opened, secretsOfEvent(event)))
      await handle(prepared, opened, requestId, onBegin)
      return {
        move: { state: 'gone' },
        ...(isSetup && { stores: [stored(activate, { prepared, requestId, event })] }),
      }
    } catch (error) {
      if (isAnnexError(error) && holding.has(error.code)) {
        return {
          move: { state: 'waiting', reason: error.message },
          stores: [stored(releaseUnlessHeld, { level, jobId: job.id })],
        }
      }
      const uncounted = uncountedRun(error)
      const text = messageOf(error)
      const shown = prepared === undefined ? text : secrets.redact(prepared.target.key, text)
      const reason = `${shown} (request ${requestId})`
      if (uncounted === 'not begun') {
        return { move: { state: 'due', dueAtMs: clock.now() + againAfterMs, reason, run: uncounted } }
      }
      given.report(prepared?.records ?? { level }, requestId, error)
      const failure =
        isSetup && prepared && error instanceof ScriptError
          ? toSetupFailure(prepared.records, reason)
          : undefined
      if (failure !== undefined) {
        return { move: { state: 'gone' }, stores: [stored(keepPending, { failure, requestId, event })] }
      }
      // The level was removed meanwhile, or the script has no handler for tasks.
      if (isAnnexError(error) && error.code === 'not_found') return { move: { state: 'failed', reason } }
      if (uncounted !== undefined && job.interruptions < mostInterruptions) {
        return { move: { state: 'due', dueAtMs: clock.now() + againAfterMs, reason, run: uncounted } }
      }
      const step = nextStep(schedule, job.attempt, {}, { nowMs: clock.now(), random: given.random })
      return { move: step.state === 'due' ? { ...step, reason } : { state: 'failed', reason } }
    }
  }

  async function handle(
    prepared: PreparedLevel,
    event: EventJob['event'],
    requestId: string,
    onBegin: () => void,
  ): Promise<void> {
    const { target, environment, records } = prepared
    if (records.manifest.script === undefined) return
    const message: DispatchMessage = { event }
    const context = toContext(records, {
      requestId,
      hops: 0,
      event: { id: event.eventId, type: event.type },
    })
    const { result } = assertHandled(
      await sandboxes.dispatch({
        ...{ target, environment, message: JSON.stringify(message), context, onBegin },
        isQueuedEvent: event.type !== 'task',
      }),
    )
    const hasNoHandler = result.kind === 'response' && result.head.status === 406
    if (!hasNoHandler && context.installationId !== undefined)
      for (const scope of scopesFor(event.type, context.scopes)) onScopeUsed(context.installationId, scope)
    if (event.type === 'task' && hasNoHandler) {
      const text = `The script of ${target.integration} has queued a task, and has no handler "task".`
      throw new AnnexError('not_found', text)
    }
  }

  async function activate(transaction: Db, all: readonly (Ran & { prepared: PreparedLevel })[]): Promise<[]> {
    for (const { prepared, ...ran } of all) {
      const { manifest, own } = prepared.records
      if (own !== undefined) await activateAfterSetup(transaction, manifest, own, causeOf(own, ran))
    }
    return []
  }

  async function end(transaction: Db, levels: readonly EventJob['level'][]): Promise<[]> {
    await endAfterLastEvent(transaction, levels)
    return []
  }

  async function keepPending(
    transaction: Db,
    all: readonly (Ran & { failure: SetupFailure })[],
  ): Promise<[]> {
    for (const { failure, ...ran } of all)
      await storeSetupFailure(transaction, failure, causeOf(failure.level, ran))
    return []
  }
}

/** A run of a setup event. */
type Ran = { requestId: string; event: EventJob['event'] }

/** The script has caused a change of status by how it handled its setup event. */
const causeOf = (level: Level, { requestId, event }: Ran) => ({
  origin: {
    actor: { kind: 'script', id: installationOf(level).id },
    requestId,
    address: null,
  } satisfies Origin,
  event: event.eventId,
})

/** A run that the script did not end itself. A script may keep its machine busy, so not every one is its host's doing. */
function uncountedRun(error: unknown): 'interrupted' | 'not begun' | undefined {
  if (isAnnexError(error) && error.code === 'sandbox_busy') return 'not begun'
  const isCutOff = error instanceof CutOffError || (isAnnexError(error) && error.code === 'machine_busy')
  return isCutOff ? 'interrupted' : undefined
}

/** Secrets that an edit has replaced: the event of the edit has them still. */
const previousSecrets = ({ previous }: EventJob['event'], names: string[]) =>
  environmentSecrets({ installation: previous }, new Set(names))

/** Jobs of a paused or suspended installation are kept. It may have been resumed meanwhile. */
async function releaseUnlessHeld(
  transaction: Db,
  waiting: readonly { level: EventJob['level']; jobId: string }[],
): Promise<[]> {
  const ids: string[] = []
  for (const { level, jobId } of waiting) if (!(await isHeld(transaction, level))) ids.push(jobId)
  if (ids.length > 0) await releaseJobs(transaction, ids)
  return []
}
