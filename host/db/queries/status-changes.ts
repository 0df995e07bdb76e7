import type { Knex } from 'knex'
import type { Db } from '../db.ts'
import type { Actor } from './audit.ts'
import type { InstallationStatus, LevelKey } from './installations.ts'

/** A change of a level's status. `fromStatus`: null for a level that was just installed. */
export type StatusChange = LevelKey & {
  /** Counts the changes of the level. */
  number: number
  fromStatus: InstallationStatus | null
  toStatus: InstallationStatus
  why: string
  reason: string | null
  actorKind: Actor['kind']
  actorId: string | null
  requestId: string | null
  eventId: string | null
  version: number | null
  at: number
}

/** Of each level. */
const mostKept = 100
const rowsAtOnce = 40

const withinKey = ({ installationId, kind, placeId }: LevelKey) =>
  kind === 'account' ? { installationId } : { installationId, kind, placeId }

/** The last change of a site or space. Of an account: also those of its sites and spaces. */
export const listLastChanges = (db: Db, level: LevelKey): Promise<StatusChange[]> =>
  lastChanges(db).where(withinKey(level))

/** The last change of each level of these installations. */
export const listLastChangesOf = (db: Db, installationIds: readonly string[]): Promise<StatusChange[]> =>
  lastChanges(db).whereIn('installationId', installationIds)

function lastChanges(db: Db): Knex.QueryBuilder {
  const newest = db('statusChanges as other')
    .max('number')
    .where('other.installationId', db.ref('statusChanges.installationId'))
    .where('other.kind', db.ref('statusChanges.kind'))
    .where('other.placeId', db.ref('statusChanges.placeId'))
  return db('statusChanges').where('number', newest)
}

/**
 * The levels of these installations that have been `active`. A level without a version does not count, as it needs no settings.
 * Those with changes that were not kept do.
 */
export async function listOnceActive(db: Db, installationIds: readonly string[]): Promise<LevelKey[]> {
  return db('statusChanges')
    .distinct('installationId', 'kind', 'placeId')
    .whereIn('installationId', installationIds)
    .where((change) =>
      change
        .where((active) => active.where('toStatus', 'active').whereNot('why', 'retired'))
        .orWhere('why', 'recorded')
        .orWhere('number', '>', mostKept),
    )
}

/** Another host may have noted the same change: its number is taken then. */
export async function insertStatusChanges(transaction: Db, changes: readonly StatusChange[]): Promise<void> {
  const key = ['installationId', 'kind', 'placeId', 'number']
  for (let at = 0; at < changes.length; at += rowsAtOnce) {
    const rows = changes.slice(at, at + rowsAtOnce)
    await transaction('statusChanges').insert(rows).onConflict(key).ignore()
  }
  for (const { installationId, kind, placeId, number } of changes) {
    if (number <= mostKept) continue
    await transaction('statusChanges')
      .where({ installationId, kind, placeId })
      .where('number', '<=', number - mostKept)
      .delete()
  }
}

/** The newest first. `before`: the number of a change, where the page begins. */
export async function listStatusChanges(
  db: Db,
  { installationId, kind, placeId }: LevelKey,
  { before, limit }: { before?: number; limit: number },
): Promise<StatusChange[]> {
  const query = db('statusChanges')
    .where({ installationId, kind, placeId })
    .orderBy('number', 'desc')
    .limit(limit)
  if (before !== undefined) query.where('number', '<', before)
  return query
}

/** Of an account: also those of its sites and spaces. */
export async function deleteStatusChanges(transaction: Db, level: LevelKey): Promise<void> {
  await transaction('statusChanges').where(withinKey(level)).delete()
}
