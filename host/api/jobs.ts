import type { Job, JobWithPayload } from '../../schemas/generated/api/jobs.ts'
import type { Db } from '../db/db.ts'
import { type Configuration, findInstallation } from '../db/queries/installations.ts'
import { findIntegration } from '../db/queries/integrations.ts'
import {
  deleteFailedJob,
  findScriptJob,
  listFailedJobs,
  listScriptJobs,
  runScriptJobAgain,
  type ScriptJob,
} from '../db/queries/script-jobs.ts'
import { transact } from '../db/sql.ts'
import { AnnexError } from '../errors.ts'
import { findDeployed } from '../installations/find-deployed.ts'
import { toVisibleSettings } from '../installations/level-settings.ts'
import { type EventJob, openEvent, parseSubject, secretsOfEvent } from '../installations/setup-event.ts'
import { recordAudit } from '../logs/audit.ts'
import { originOf, ownerOf, ownOf, type Person } from './caller.ts'
import { idCursor, listPage, retentionOf, spanOf, toIso } from './list-query.ts'
import type { OnOperation } from './operations.ts'

type JobParts = { db: Db; longReader: Db; settings: { RETENTION_DAYS: number } }

type JobRequest = { caller: Person; params: { job: string } }

/** Events and tasks for scripts: pending jobs and failed ones. */
export function addJobRoutes(on: OnOperation, { db, longReader, settings }: JobParts): void {
  on('GET /v1/jobs', async (request) => {
    const { organization, state, kind, installation, event } = request.query
    const filter = {
      ...(await ownerOf(db, request.caller, organization)),
      ...(kind !== undefined && { kind }),
      ...(installation !== undefined && { installationId: installation }),
      ...(event !== undefined && { eventId: event }),
      ...spanOf(request.query),
    }
    if (state === 'failed') {
      const page = await listPage(request, {
        cursor: idCursor('job'),
        read: ({ after, limit }) => listFailedJobs(longReader, filter, { before: after, limit }),
        cursorOf: ({ id }) => id,
        toView,
      })
      return { ...page, ...retentionOf(settings) }
    }
    return listPage(request, {
      cursor: dueCursor,
      cursorOf: ({ dueAt, id }) => `${dueAt}.${id}`,
      read: ({ after, limit }) =>
        listScriptJobs(longReader, filter, { state, after: parseCursor(after), limit }),
      toView,
    })
  })

  on('GET /v1/jobs/{job}', async (request) => {
    const job = await open(request)
    const { level, event } = parseSubject(job.subject)
    return {
      ...toView(job),
      payload: await withoutCredentials(level, openEvent(db, event), secretsOfEvent(event)),
    }
  })

  on('POST /v1/jobs/{job}/run', async (request) => {
    const { id, state, subject } = await open(request)
    const { level, event } = parseSubject(subject)
    const organizationId = await organizationIdOf(level)
    return transact(db, async (transaction) => {
      if (!(await runScriptJobAgain(transaction, id))) throw notFailed(id, state, 'be run again')
      await recordAudit(transaction, originOf(request), {
        ...{ action: 'job.run', organizationId, subject: { kind: 'job', id } },
        after: { event: { id: event.eventId, type: event.type } },
      })
      // After the commit it may run at once, and be gone.
      return toView(await open(request, transaction))
    })
  })

  on('DELETE /v1/jobs/{job}', async (request) => {
    const { id, state, subject } = await open(request)
    const { level, event } = parseSubject(subject)
    const organizationId = await organizationIdOf(level)
    await transact(db, async (transaction) => {
      if (!(await deleteFailedJob(transaction, id))) throw notFailed(id, state, 'be discarded')
      await recordAudit(transaction, originOf(request), {
        ...{ action: 'job.discard', organizationId, subject: { kind: 'job', id } },
        before: { event: { id: event.eventId, type: event.type } },
      })
    })
  })

  /** A setup event holds the previous configuration, and in it what the script has stored. */
  async function withoutCredentials(
    level: EventJob['level'],
    event: EventJob['event'],
    secrets: string[],
  ): Promise<JobWithPayload['payload']> {
    const { previous } = event as { previous?: { configuration?: Configuration } }
    if (previous?.configuration === undefined) return event
    const installation =
      level.kind === 'integration' ? undefined : await findInstallation(db, level.installationId)
    const manifest = (await findDeployed(db, level.integration, installation))?.manifest
    const kind = 'placeId' in level ? level.kind : 'account'
    const settingDetails = Object.fromEntries(secrets.map((name) => [name, { secret: true as const }]))
    const configuration = toVisibleSettings(manifest, {
      kind,
      configuration: previous.configuration,
      settingDetails,
    })
    return { ...event, previous: { ...previous, configuration } }
  }

  async function organizationIdOf(level: EventJob['level']): Promise<string | null> {
    const owner =
      level.kind === 'integration'
        ? await findIntegration(db, level.integration)
        : await findInstallation(db, level.installationId)
    return owner?.organizationId ?? null
  }

  async function open({ caller, params }: JobRequest, from: Db = db): Promise<ScriptJob> {
    const job = await findScriptJob(from, params.job, ownOf(caller))
    if (job !== undefined) return job
    throw new AnnexError(
      'not_found',
      `There is no job ${params.job} that you may see. A job that is done is deleted; its log is kept.`,
    )
  }
}

const dueCursor = /^(\d{1,15})\.(job_[0-9a-f-]{36})$/

function parseCursor(cursor: string | undefined): { dueAt: number; id: string } | undefined {
  const [, dueAt, id] = dueCursor.exec(cursor ?? '') ?? []
  return dueAt === undefined || id === undefined ? undefined : { dueAt: Number(dueAt), id }
}

/** The reason ends with the request id of the log: `… (request req_…)`. */
const requestIn = (reason: string): string | undefined => /\(request (req_[\w-]+)\)$/.exec(reason)?.[1]

function toView({
  id,
  kind,
  state,
  subject,
  attempt,
  dueAt,
  lastError,
  createdAt,
  finishedAt,
}: ScriptJob): Job {
  const { level, event } = parseSubject(subject)
  const request = requestIn(lastError ?? '')
  return {
    object: 'job',
    id,
    kind,
    state,
    integration: level.integration,
    ...('installationId' in level && { installation: level.installationId }),
    ...('placeId' in level && { target: { [level.kind]: level.placeId } }),
    event: { id: event.eventId, type: event.type },
    attempts: attempt,
    ...(state === 'due' && { nextAttemptAt: toIso(dueAt) }),
    ...(lastError !== null && { error: { message: lastError, ...(request !== undefined && { request }) } }),
    createdAt: toIso(createdAt),
    ...(finishedAt !== null && { finishedAt: toIso(finishedAt) }),
  }
}

const notFailed = (id: string, state: string, what: string): AnnexError =>
  new AnnexError('conflict', `The job ${id} is ${state}; only one that has failed can ${what}.`)
