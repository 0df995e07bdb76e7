import type { Knex } from 'knex'
import { nowOf } from '../../database-clock.ts'
import type { Db } from '../../db.ts'

/** Work that a script is owed. What of it is done is gone; what failed is kept. */
export type ScriptJob = {
  id: string
  kind: 'event' | 'task'
  state: ScriptJobState
  /** JSON text of an `EventJob`. */
  subject: string
  attempt: number
  dueAt: number
  lastError: string | null
  createdAt: number
  finishedAt: number | null
}

export type ScriptJobState = 'due' | 'running' | 'waiting' | 'failed'

const kinds = ['event', 'task']
const columns = [
  ...['id', 'kind', 'state', 'subject', 'attempt', 'dueAt', 'lastError', 'createdAt', 'finishedAt'],
]

/**
 * Failed ones the newest first; others those that are due next. With `organizationId`: of its installations, and of the
 * integrations that it owns what is for no installation.
 *
 * @param page.before the id of a failed one: those that come after it in the list
 */
export async function listScriptJobs(
  db: Db,
  where: {
    state: ScriptJobState
    kind?: ScriptJob['kind']
    installationId?: string
    organizationId?: string
  },
  page: { before?: string; limit: number },
): Promise<ScriptJob[]> {
  const { state, kind, installationId, organizationId } = where
  const query = db('jobs').select(columns).limit(page.limit)
  // Written out: the indexes of owed and failed ones are found by it.
  query
    .whereRaw(`state = '${state}' and kind <> 'delivery'`)
    .whereIn('kind', kind === undefined ? kinds : [kind])
  if (state === 'failed') query.orderBy('id', 'desc')
  else query.orderBy(['dueAt', 'id'])
  if (page.before !== undefined) query.where('id', '<', page.before)
  if (installationId !== undefined) query.where('lane', installationId)
  if (organizationId !== undefined) query.where(ofOrganization(db, organizationId))
  return query
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
  const query = db('jobs').select(columns).where({ id }).whereIn('kind', kinds)
  if (organizationId !== undefined) query.where(ofOrganization(db, organizationId))
  return query.first()
}

/** Makes a failed one due now, with a new round of the schedule. @returns whether it was failed */
export async function runScriptJobAgain(db: Db, id: string): Promise<boolean> {
  const again = { state: 'due', attempt: 0, dueAt: nowOf(db), finishedAt: null }
  return (await db('jobs').where({ id, state: 'failed' }).whereIn('kind', kinds).update(again)) === 1
}
