import type Router from '@koa/router'
import type { Context } from 'koa'
import type { Db } from '../db/db.ts'
import type { Configuration } from '../db/queries/installations.ts'
import {
  findScriptJob,
  listFailedJobs,
  listScriptJobs,
  runScriptJobAgain,
  type ScriptJob,
  type ScriptJobState,
} from '../db/queries/script-jobs.ts'
import { AnnexError } from '../errors.ts'
import { findDeployed } from '../installations/find-deployed.ts'
import { toVisibleSettings } from '../installations/level-settings.ts'
import type { EventJob } from '../installations/setup-event.ts'
import type { Authenticate } from './caller.ts'
import { badPlace, idIn, limitOf, oneOf, ownOf, texts, toIso, toPage } from './list-query.ts'

const names = ['state', 'kind', 'installation', 'event', 'before', 'after'] as const
const states = ['failed', 'due', 'running', 'waiting'] as const satisfies ScriptJobState[]
const kinds = ['event', 'task'] as const satisfies ScriptJob['kind'][]

export type JobParts = { db: Db; longReader: Db; authenticate: Authenticate; wake: () => void }

/** Events and tasks for scripts: pending jobs and failed ones. */
export function addJobRoutes(router: Router, { db, longReader, authenticate, wake }: JobParts): void {
  /**
   * Lists jobs of a `state`: `failed` (the default; the newest first), `due`, `running` or `waiting` (for a resume). The last
   * three are sorted by due time. Filters: `kind` (event, task), `installation`, `event` (its id), `limit` (to 200).
   * Pages: `before` (a job's id) for failed jobs, `after` (from `next`) for others.
   */
  router.get('/v1/jobs', async (context) => {
    const own = ownOf(await authenticate(context))
    const { state = 'failed', kind, installation, event, ...places } = texts(context.query, names)
    const limit = limitOf(context.query)
    const wanted = oneOf('state', state, states)
    const filter = {
      ...own,
      ...(kind !== undefined && { kind: oneOf('kind', kind, kinds) }),
      ...(installation !== undefined && { installationId: installation }),
      ...(event !== undefined && { eventId: event }),
    }
    if (wanted === 'failed') {
      const items = await listFailedJobs(longReader, filter, { before: failedPlaceIn(places), limit })
      context.body = toPage(items, limit, toView)
      return
    }
    const page = { state: wanted, after: dueAfterIn(places), limit }
    const items = await listScriptJobs(longReader, filter, page)
    const last = items.at(-1)
    context.body = {
      items: items.map(toView),
      ...(items.length === limit && last !== undefined && { next: { after: `${last.dueAt}.${last.id}` } }),
      count: items.length,
    }
  })

  /** One job, with the event or task that its script gets, without credentials. 404 for a job that is done. */
  router.get('/v1/jobs/:id', async (context) => {
    const job = await open(context)
    const { level, event } = JSON.parse(job.subject) as EventJob
    context.body = { ...toView(job), payload: await withoutCredentials(level, event) }
  })

  /**
   * Runs a failed job again, with a new round of the schedule: 202. 409 when it has not failed.
   */
  router.post('/v1/jobs/:id/run', async (context) => {
    const { id, state } = await open(context)
    if (!(await runScriptJobAgain(db, id))) {
      throw new AnnexError(
        'conflict',
        `The job ${id} is ${state}; only one that has failed can be run again.`,
      )
    }
    context.status = 202
    context.body = toView(await open(context))
    wake()
  })

  /** A setup event holds the previous configuration, and in it what the script has stored. */
  async function withoutCredentials(level: EventJob['level'], event: EventJob['event']): Promise<object> {
    const { previous } = event as { previous?: { configuration?: Configuration } }
    if (previous?.configuration === undefined) return event
    const manifest = (await findDeployed(db, level.integration))?.manifest
    const kind = 'targetId' in level ? level.kind : 'account'
    return {
      ...event,
      previous: { ...previous, ...toVisibleSettings(manifest, kind, previous.configuration) },
    }
  }

  async function open(context: Context): Promise<ScriptJob> {
    const { id } = context.params
    const job = await findScriptJob(db, String(id), ownOf(await authenticate(context)))
    if (job !== undefined) return job
    throw new AnnexError(
      'not_found',
      `There is no job ${id} that this token may see. A job that is done is deleted; its log is kept.`,
    )
  }
}

type Places = { before?: string; after?: string }

/** @throws AnnexError `bad_request` */
function failedPlaceIn({ before, after }: Places): string | undefined {
  if (after !== undefined)
    throw badPlace('after', after, 'for jobs that are to come; failed ones have before')
  return idIn({ ...(before !== undefined && { before }) }, 'job').before
}

/** @throws AnnexError `bad_request` */
function dueAfterIn({ before, after }: Places): { dueAt: number; id: string } | undefined {
  if (before !== undefined) throw badPlace('before', before, 'for failed jobs; those to come have after')
  if (after === undefined) return undefined
  const [, dueAt, id] = /^(\d{1,15})\.(job_[0-9a-f-]{36})$/.exec(after) ?? []
  if (dueAt !== undefined && id !== undefined) return { dueAt: Number(dueAt), id }
  throw badPlace('after', after, 'what the page before it says')
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
}: ScriptJob): object {
  const { level, event } = JSON.parse(subject) as EventJob
  const request = requestIn(lastError ?? '')
  return {
    object: 'job',
    id,
    kind,
    state,
    integration: level.integration,
    ...('installationId' in level && { installation: level.installationId }),
    ...('targetId' in level && { target: { [level.kind]: level.targetId } }),
    event: { id: event.eventId, type: event.type },
    attempts: attempt,
    ...(state === 'due' && { nextAttemptAt: toIso(dueAt) }),
    ...(lastError !== null && { error: { message: lastError, ...(request !== undefined && { request }) } }),
    createdAt: toIso(createdAt),
    ...(finishedAt !== null && { finishedAt: toIso(finishedAt) }),
  }
}
