import type { Db } from '../db.ts'
import { createId } from '../ids.ts'
import { inTexts } from '../sql.ts'
import type { Actor } from './audit.ts'

/** What an organization has agreed to for an installation: the permissions of a version, by whom and when. */
export type Grant = {
  id: string
  installationId: string
  /** The number of the version. */
  version: number
  /** JSON text of permissions. */
  permissions: string
  actorKind: Actor['kind']
  actorId: string | null
  createdAt: number
}

export async function insertGrant(
  transaction: Db,
  given: Pick<Grant, 'installationId' | 'version' | 'permissions'> & { actor: Actor },
): Promise<void> {
  const { actor, ...rest } = given
  await transaction('grants').insert({
    id: createId('grt'),
    ...rest,
    actorKind: actor.kind,
    actorId: actor.id,
    createdAt: Date.now(),
  })
}

/** The grant that holds. */
export async function findGrant(db: Db, installationId: string): Promise<Grant | undefined> {
  return db('grants').where({ installationId }).orderBy('id', 'desc').first()
}

/** An installation with the permissions that its organization has agreed to, as JSON text. */
export type Granted = { id: string; heldVersionId: string | null; permissions: string | null }

/** All installations of an integration, or those of one organization, with their last grants. */
export async function listGranted(
  db: Db,
  where: { integration: string; organizationId?: string },
): Promise<Granted[]> {
  const last = db('grants')
    .select('permissions')
    .where('installationId', db.ref('installations.id'))
    .orderBy('grants.id', 'desc')
    .limit(1)
  return db('installations')
    .where(where)
    .whereNull('removingAt')
    .select('id', 'heldVersionId', last.as('permissions'))
}

/** @param versionId the version that the installations go on with; null: the deployed one */
export async function holdInstallations(
  db: Db,
  ids: readonly string[],
  versionId: string | null,
): Promise<void> {
  if (ids.length === 0) return
  await db.raw(`update installations set held_version_id = ?, missed_calls = 0 where id ${inTexts(db)}`, [
    versionId,
    JSON.stringify(ids),
  ])
}
