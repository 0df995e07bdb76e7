import type { Knex } from 'knex'
import type { Db } from '../db.ts'
import type { LevelKey } from './installations.ts'

/** Replaces the external ids by which an integration finds a level. The level's row has them too. */
export async function replaceLevelIds(
  transaction: Db,
  { integration, ...level }: LevelKey & { integration: string },
  externalIds: readonly string[],
): Promise<void> {
  await deleteLevelIds(transaction, level)
  // PostgreSQL stores no U+0000, and a query with it is refused.
  const findable = new Set(externalIds.filter((externalId) => !externalId.includes('\0')))
  const rows = [...findable].map((externalId) => ({ integration, ...toColumns(level), externalId }))
  if (rows.length > 0) await transaction('levelExternalIds').insert(rows)
}

/** Deletes those of a level, or of an installation with all of its levels. */
export async function deleteLevelIds(
  transaction: Db,
  level: LevelKey | { installationId: string },
): Promise<void> {
  await transaction('levelExternalIds')
    .where('placeId' in level ? toColumns(level) : level)
    .delete()
}

/** The table is older than the word place. */
const toColumns = ({ placeId, ...key }: LevelKey) => ({ ...key, targetId: placeId })

/** The levels of an integration that have an external id. */
export const levelsNamed = (
  db: Db,
  where: { integration: string; kind: LevelKey['kind']; externalId: string },
): Knex.QueryBuilder => db('levelExternalIds').where(where)
