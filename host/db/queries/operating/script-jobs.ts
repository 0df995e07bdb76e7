import type { Knex } from 'knex'
import { nowOf } from '../../database-clock.ts'
import type { Db } from '../../db.ts'
import { type Look, type Looked, lookAmong, type Source } from '../../looks/window.ts'
import { isPostgres, lenientJson } from '../../sql.ts'
import { positionAt } from '../positions.ts'

/** Work that a script is owed. What of it is done is gone; what failed is kept. */
export type ScriptJob = {
  id: string
  kind: 'event' | 'task'
  state: ScriptJobState
  /** JSON text of an `EventJob`; in a list of its event no more than id and type. */
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

/** For a list: what an event or a task carries may be half a MB, two hundred times. */
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

/** Which jobs. With `organizationId`: of its installations, and of the integrations that it owns what is for no installation. */
type ScriptJobFilter = {
  kind?: ScriptJob['kind']
  installationId?: string
  eventId?: string
  organizationId?: string
}

/** Of the next failed ones those that fit, the newest first. */
export function lookForFailedJobs(db: Db, filter: ScriptJobFilter, look: Look): Promise<Looked<ScriptJob>> {
  const sources = kindsOf(filter).map(
    (kind): Source => ({
      ...{ table: 'jobs', column: 'id', order: 'desc' },
      where: (query) => void query.whereRaw(`state = 'failed' and kind = '${kind}'`),
    }),
  )
  return lookAmong(db, sources, { before: look.place }, look, (window) => {
    const query = db.from(window.as('jobs')).select(listed(db)).orderBy('id', 'desc')
    narrow(db, query, filter)
    return query
  })
}

/** Those that are due next, of what is to come. `after`: only what comes after it. */
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
  const query = db('jobs')
    .select(listed(db))
    // Written out: the index of what is due is found by it.
    .whereRaw(`state = '${state}' and kind <> 'delivery'`)
    .whereIn('kind', kindsOf(filter))
    .orderBy(['dueAt', 'id'])
    .limit(limit)
  if (after !== undefined) query.whereRaw('(due_at, id) > (?, ?)', [after.dueAt, after.id])
  narrow(db, query, filter)
  return query
}

const kindsOf = ({ kind }: ScriptJobFilter): readonly ScriptJob['kind'][] =>
  kind === undefined ? kinds : [kind]

function narrow(
  db: Db,
  query: Knex.QueryBuilder,
  { installationId, eventId, organizationId }: ScriptJobFilter,
): void {
  if (eventId !== undefined) query.where(isOfEvent(db, eventId))
  if (installationId !== undefined) query.where('lane', installationId)
  if (organizationId !== undefined) query.where(ofOrganization(db, organizationId))
}

/** Among many, most texts are told apart without reading them as JSON. */
const isOfEvent = (db: Db, eventId: string) => (query: Knex.QueryBuilder) => {
  const find = isPostgres(db) ? 'strpos' : 'instr'
  query
    .whereRaw(`${find}(subject, ?) > 0`, [JSON.stringify(eventId)])
    .whereRaw(`${lenientJson(db, 'subject')} -> 'event' ->> 'eventId' = ?`, [eventId])
}

const ofOrganization = (db: Db, organizationId: string) => (query: Knex.QueryBuilder) => {
  query
    .whereIn('lane', db('installations').select('id').where({ organizationId }))
    .orWhereIn('lane', db('integrations').select('name').where({ organizationId }))
}

/** One that the organization may see, or any. */
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

/** Makes a failed one due now, with a new round of the schedule. @returns whether it was failed */
export async function runScriptJobAgain(db: Db, id: string): Promise<boolean> {
  const dueAt = nowOf(db)
  const again = { state: 'due', attempt: 0, dueAt, position: positionAt(dueAt), finishedAt: null }
  return (await db('jobs').where({ id, state: 'failed' }).whereIn('kind', kinds).update(again)) === 1
}
