import type { Knex } from 'knex'
import { nowOf } from '../database-clock.ts'
import type { Db } from '../db.ts'
import { newestFirst } from '../ids.ts'
import { inSpan, type Span } from '../page.ts'
import { holdsText, isPostgres, lenientJson } from '../sql.ts'
import { positionAt } from './jobs.ts'

/** An event or a task for a script. Done jobs are deleted, failed ones are kept. */
export type ScriptJob = {
  id: string
  kind: 'event' | 'task'
  state: ScriptJobState
  /** JSON text of an `EventJob`. A list has only the id and type of its event. */
  subject: string
  attempt: number
  dueAt: number
  lastError: string | null
  createdAt: number
  finishedAt: number | null
}

export type ScriptJobState = 'due' | 'running' | 'waiting' | 'failed'

const kinds: readonly ScriptJob['kind'][] = ['event', 'task']
const columns = ['id', 'kind', 'state', 'attempt', 'dueAt', 'lastError', 'createdAt', 'finishedAt']

/** A list has no payloads: 200 payloads of half a MB each would fill memory. */
const listed = (db: Db) => [...columns, db.raw(`${shortSubject(db)} as subject`)]

function shortSubject(db: Db): string {
  // Without `offset 0` PostgreSQL would read the text three times.
  if (isPostgres(db))
    return `(select jsonb_build_object('level', read -> 'level', 'event',
      jsonb_build_object('eventId', read #> '{event,eventId}', 'type', read #> '{event,type}'))::text
      from (select ${lenientJson(db, 'subject')} as read offset 0) as parsed)`
  return `json_object('level', json(subject -> 'level'), 'event',
    json_object('eventId', subject -> 'event' ->> 'eventId', 'type', subject -> 'event' ->> 'type'))`
}

/** `organizationId`: jobs of its installations, and jobs of its integrations that are for no installation. */
type ScriptJobFilter = Span & {
  kind?: ScriptJob['kind']
  installationId?: string
  eventId?: string
  organizationId?: string
}

/** The newest failed jobs. `before`: the last id of the page before it. */
export async function listFailedJobs(
  db: Db,
  filter: ScriptJobFilter,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<ScriptJob[]> {
  // The index `jobs_failed` has the ids of each kind in order.
  const queries = kindsOf(filter).map((kind) => {
    const query = db('jobs').select(listed(db)).whereRaw(`state = 'failed' and kind = '${kind}'`)
    if (before !== undefined) query.where('id', '<', before)
    narrow(db, query, filter)
    return query.orderBy('id', 'desc').limit(limit)
  })
  const found: ScriptJob[][] = await Promise.all(queries)
  return found.flat().sort(newestFirst).slice(0, limit)
}

/** Pending jobs, by due time. `after`: the last job of the page before. */
export async function listScriptJobs(
  db: Db,
  filter: ScriptJobFilter,
  page: {
    state: Exclude<ScriptJobState, 'failed'>
    after: { dueAt: number; id: string } | undefined
    limit: number
  },
): Promise<ScriptJob[]> {
  const { state, after, limit } = page
  // An index has the jobs of each kind in order. SQLite uses a partial index only for literals.
  const queries = kindsOf(filter).map((kind) => {
    const query = db('jobs')
      .select(listed(db))
      .whereRaw(`state = '${state}' and kind = '${kind}' and kind <> 'delivery'`)
      .orderBy(['dueAt', 'id'])
      .limit(limit)
    if (after !== undefined) query.whereRaw('(due_at, id) > (?, ?)', [after.dueAt, after.id])
    narrow(db, query, filter)
    return query
  })
  const found: ScriptJob[][] = await Promise.all(queries)
  return found.flat().sort(byDueTime).slice(0, limit)
}

const byDueTime = (one: ScriptJob, other: ScriptJob): number =>
  one.dueAt - other.dueAt || (one.id < other.id ? -1 : 1)

const kindsOf = ({ kind }: ScriptJobFilter): readonly ScriptJob['kind'][] =>
  kind === undefined ? kinds : [kind]

function narrow(
  db: Db,
  query: Knex.QueryBuilder,
  { installationId, eventId, organizationId, ...span }: ScriptJobFilter,
): void {
  if (eventId !== undefined) query.where(isOfEvent(db, eventId))
  if (installationId !== undefined) query.where('lane', installationId)
  if (organizationId !== undefined) query.where(ofOrganization(db, organizationId))
  inSpan(query, db.raw('coalesce(finished_at, created_at)'), span)
}

/** The text search comes first: it is faster than parsing each subject as JSON. */
const isOfEvent = (db: Db, eventId: string) => (query: Knex.QueryBuilder) => {
  query
    .whereRaw(holdsText(db, 'subject'), [JSON.stringify(eventId)])
    .whereRaw(`${lenientJson(db, 'subject')} -> 'event' ->> 'eventId' = ?`, [eventId])
}

const ofOrganization = (db: Db, organizationId: string) => (query: Knex.QueryBuilder) => {
  query
    .whereIn('lane', db('installations').select('id').where({ organizationId }))
    .orWhereIn('lane', db('integrations').select('name').where({ organizationId }))
}

/** A job, if the organization may see it. */
export async function findScriptJob(
  db: Db,
  id: string,
  { organizationId }: { organizationId?: string },
): Promise<ScriptJob | undefined> {
  const query = db('jobs')
    .select([...columns, 'subject'])
    .where({ id })
    .whereIn('kind', kinds)
  if (organizationId !== undefined) query.where(ofOrganization(db, organizationId))
  return query.first()
}

/** Makes a failed job due now, with a new round of the schedule. @returns whether the job had failed */
export async function runScriptJobAgain(db: Db, id: string): Promise<boolean> {
  const dueAt = nowOf(db)
  const again = { state: 'due', attempt: 0, dueAt, position: positionAt(dueAt), finishedAt: null }
  return (await db('jobs').where({ id, state: 'failed' }).whereIn('kind', kinds).update(again)) === 1
}

/** @returns whether the job had failed */
export async function deleteFailedJob(transaction: Db, id: string): Promise<boolean> {
  return (await transaction('jobs').where({ id, state: 'failed' }).whereIn('kind', kinds).delete()) === 1
}
