import type { Knex } from 'knex'
import { announce } from '../announce.ts'
import type { Db } from '../db.ts'
import { withPrefix } from '../ids.ts'
import { inTexts, lenientJson, rawRows } from '../sql.ts'
import { refuseDeliveries } from './deliveries.ts'
import type { LevelKey, PlaceKind } from './installations.ts'
import { deleteLevelIds } from './level-external-ids.ts'
import { rowOf } from './levels.ts'
import type { ScriptJobState } from './script-jobs.ts'
import { deleteStatusChanges } from './status-changes.ts'
import { deleteStores } from './stores.ts'

/** Events and tasks that a level has not begun. The failed ones are history. */
export async function deletePendingEvents(transaction: Db, level: LevelKey): Promise<void> {
  await jobsOfScripts(transaction, level, ['due', 'waiting']).delete()
}

/**
 * Ends a level: its settings, secrets, receivers, stored values and pending work. An installation keeps its row without
 * levels, as history refers to it.
 */
export async function endLevel(transaction: Db, level: LevelKey): Promise<void> {
  const { installationId, kind } = level
  await endDeliveries(transaction, level)
  await jobsOfScripts(transaction, level, ['due', 'waiting', 'running']).delete()
  await receiversOf(transaction, level).delete()
  await deleteLevelIds(transaction, kind === 'account' ? { installationId } : level)
  await deleteStatusChanges(transaction, level)
  if (kind !== 'account') await rowOf(transaction, level).delete()
  else {
    await transaction('levels').where({ installationId }).delete()
    await transaction('permissionUses').where({ installationId }).delete()
    await transaction('installations').where({ id: installationId }).update({ removedAt: Date.now() })
  }
  // Last: a script that creates a store has locked its level.
  await deleteStores(transaction, level)
  announce(transaction, 'changed')
}

async function endDeliveries(transaction: Db, level: LevelKey): Promise<void> {
  const receivers: string[] = await receiversOf(transaction, level).pluck('id')
  // The index of pending deliveries has their owner.
  const ended = await rawRows<{ id: string }>(
    transaction,
    `delete from jobs where kind = 'delivery' and owner = ? and lane ${inTexts(transaction)} returning id`,
    [level.installationId, JSON.stringify(receivers)],
  )
  const finishedAt = Date.now()
  const refusals = ended.map(({ id }) => ({ id: withPrefix(id, 'dlv'), reason: 'uninstalled', finishedAt }))
  await refuseDeliveries(transaction, refusals)
}

function receiversOf(db: Db, { installationId, kind, placeId }: LevelKey) {
  const signedBy = kind === 'account' ? {} : { signedBy: `${kind}:${placeId}` }
  return db('receivers').where({ installationId, ...signedBy })
}

/** Each state has an index of its own. SQLite uses it for a literal alone. */
function jobsOfScripts(
  db: Db,
  { installationId, kind, placeId }: LevelKey,
  states: readonly ScriptJobState[],
): Knex.QueryBuilder {
  const inStates = states.map((state) => `(state = '${state}' and kind in ('event', 'task') and lane = ?)`)
  const jobs = db('jobs').whereRaw(
    `(${inStates.join(' or ')})`,
    states.map(() => installationId),
  )
  if (kind === 'account') return jobs
  return jobs.whereRaw(`${lenientJson(db, 'subject')} -> 'level' ->> 'targetId' = ?`, [placeId])
}

/** Removes rows of installations that ended before a time. History that refers to them is older. */
export async function deleteRemoved(db: Db, endedBefore: number): Promise<void> {
  await db('installations').where('removedAt', '<', endedBefore).delete()
}

/** An installation that keeps a site, space or organization from being deleted. */
export type Holder = { id: string; integration: string; removingAt: number | null }

/** The installations in a site or space, also those whose script has not handled its last event yet. */
export async function listHoldersOfPlace(db: Db, kind: PlaceKind, placeId: string): Promise<Holder[]> {
  return db('levels')
    .join('installations', 'installations.id', 'levels.installationId')
    .where({ kind, placeId })
    .orderBy('installations.id')
    .select('installations.id', 'integration', 'levels.removingAt')
}

/** As `listHoldersOfPlace`, in an organization. */
export async function listHoldersOfOrganization(db: Db, organizationId: string): Promise<Holder[]> {
  return db('installations')
    .where({ organizationId, removedAt: null })
    .orderBy('id')
    .select('id', 'integration', 'removingAt')
}
