import type { Knex } from 'knex'
import type { Db } from '../db.ts'
import { inSpan, type Span } from '../page.ts'
import { holdsTextInAnyCase } from '../sql.ts'

/** A line that a script logged, or that Annex logged about it. */
export type LogRow = {
  id: number
  at: number
  integration: string
  installationId: string | null
  requestId: string | null
  level: string
  text: string
}

export async function insertLogs(db: Db, rows: readonly Omit<LogRow, 'id'>[]): Promise<void> {
  await db.batchInsert('logs', [...rows], 100)
}

/**
 * Lists lines, the oldest first: the newest `limit` lines, the newest before the line `before`, or the first after the line
 * `after`. `organizationId` limits them to its installations, and to its integrations' lines without an installation.
 */
export async function listLogs(
  db: Db,
  where: Span & {
    integration?: string
    installationId?: string
    requestId?: string
    organizationId?: string
    level?: string
    /** A part of their text, in any case of its letters. */
    part?: string
    before?: number
    after?: number
    limit: number
  },
): Promise<LogRow[]> {
  const { before, after, limit, organizationId, part, sinceMs, untilMs, ...equal } = where
  const query = db('logs').where(equal).limit(limit)
  if (before !== undefined) query.where('id', '<', before)
  if (after === undefined) query.orderBy('id', 'desc')
  else query.where('id', '>', after).orderBy('id')
  if (organizationId !== undefined) query.where(ofOrganization(db, organizationId))
  if (part !== undefined) query.whereRaw(holdsTextInAnyCase(db, 'text'), [part])
  const rows = await inSpan(query, 'at', { sinceMs, untilMs })
  return after === undefined ? rows.reverse() : rows
}

const ofOrganization =
  (db: Db, organizationId: string): Knex.QueryCallback =>
  (visible) => {
    visible.whereIn('installationId', db('installations').select('id').where({ organizationId }))
    visible.orWhere((own) => {
      // By an index on the null, it would read the lines of all integrations.
      own.whereRaw(`coalesce(installation_id, '') = ''`)
      own.whereIn('integration', db('integrations').select('name').where({ organizationId }))
    })
  }

/** Keeps the newest `keep` lines of an integration. */
export async function pruneLogs(db: Db, integration: string, keep: number): Promise<void> {
  const own = () => db('logs').where({ integration })
  const oldest = await own().select('id').orderBy('id', 'desc').offset(keep).limit(1).first()
  if (oldest !== undefined) await own().where('id', '<=', oldest.id).delete()
}
