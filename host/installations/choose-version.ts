import type { Db } from '../db/db.ts'
import { findVersionHead } from '../db/queries/versions.ts'
import { AnnexError } from '../errors.ts'
import type { LevelRef } from '../sandbox/level-ref.ts'
import { getDeployed } from './find-deployed.ts'
import { mayInherit } from './reach.ts'

/**
 * The version that runs at the level of an integration: the deployed one. A task may hold data of an organization that has not
 * agreed to it: then the version that has queued the task runs it.
 *
 * @returns the id of that other version
 * @throws AnnexError `not_found` where that version is no longer kept; `no_version`
 */
export async function chooseVersion(
  db: Db,
  { integration, versionId }: Extract<LevelRef, { kind: 'integration' }>,
): Promise<string | null> {
  if (versionId === undefined) return null
  const { version } = await getDeployed(db, integration)
  const isInherited = await mayInherit(db, integration, {
    versionId: version.id,
    leftBy: versionId,
    deployedId: version.id,
  })
  if (isInherited) return null
  if ((await findVersionHead(db, versionId)) !== undefined) return versionId
  throw new AnnexError(
    'not_found',
    `The version of ${integration} that has queued this task is no longer kept, and version ${version.number} asks for more than some organizations have agreed to.`,
  )
}
