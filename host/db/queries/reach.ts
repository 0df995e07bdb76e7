import type { Knex } from 'knex'
import type { Db } from '../db.ts'

/** The installations of an integration that a version may reach outside of them: see `installations/reach.ts`. */
export type Reach = {
  versionId: string
  /** The deployed version. Installations without a held version run it. */
  deployedId: string
  /** Numbers of the versions whose agreement covers that version. */
  agreed: number[]
}

/** Limits a query of installations to those that a version reaches. */
export function whereReached(query: Knex.QueryBuilder, { versionId, deployedId, agreed }: Reach): void {
  const runsIt = 'coalesce(installations.held_version_id, ?) = ?'
  const hasAgreed = `(${lastAgreed}) in (${agreed.map(() => '?').join(', ')})`
  const sql = agreed.length === 0 ? `(${runsIt})` : `(${runsIt} or ${hasAgreed})`
  query.whereRaw(sql, [deployedId, versionId, ...agreed])
}

const lastAgreed =
  'select version from grants where grants.installation_id = installations.id order by grants.id desc limit 1'

/** What organizations have agreed to with each version of an integration, as JSON text. */
export async function listAgreements(
  db: Db,
  integration: string,
): Promise<{ version: number; permissions: string }[]> {
  return db('grants')
    .join('installations', 'installations.id', 'grants.installationId')
    .where({ integration })
    .whereNull('removedAt')
    .groupBy('version')
    .select('version')
    .min({ permissions: 'permissions' })
}

const unreached = (db: Db, integration: string, reach: Reach): Knex.QueryBuilder =>
  db('installations')
    .where({ integration })
    .whereNull('removedAt')
    .whereNotIn(
      'id',
      db('installations')
        .where({ integration })
        .modify((query) => whereReached(query, reach))
        .select('id'),
    )

export async function countUnreached(db: Db, integration: string, reach: Reach): Promise<number> {
  const row = await unreached(db, integration, reach).count({ count: '*' }).first()
  return Number(row?.count ?? 0)
}

export async function hasUnreached(db: Db, integration: string, reach: Reach): Promise<boolean> {
  return (await unreached(db, integration, reach).first('id')) !== undefined
}

export async function listUnreached(db: Db, integration: string, reach: Reach): Promise<string[]> {
  return unreached(db, integration, reach).pluck('id')
}

/** Counts calls that did not reach installations. */
export async function addMissedCalls(db: Db, ids: readonly string[], count: number): Promise<void> {
  await db('installations').whereIn('id', ids).increment('missedCalls', count)
}

/** True while a site or space of an installation, or all of it, is being uninstalled. */
export async function isEnding(db: Db, installationId: string): Promise<boolean> {
  const ending = db('levels').where({ installationId }).whereNotNull('removingAt')
  return (await ending.first('kind')) !== undefined
}
