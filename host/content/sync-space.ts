import type { Db } from '../db/db.ts'
import {
  findRevision,
  insertRevision,
  lockSpace,
  type Revision,
  type Space,
} from '../db/queries/records/spaces.ts'
import { readSpaceFolder } from './read-space-folder.ts'

/**
 * Makes a revision of a space when its folder differs from the current one.
 *
 * @returns the new revision and whether the space had one before, or undefined when nothing has changed
 */
export async function syncSpace(
  db: Db,
  space: Space,
): Promise<{ revision: Revision; isFirst: boolean } | undefined> {
  const { pages, digest } = await readSpaceFolder(space.folder)
  return db.transaction(async (transaction) => {
    const current = await lockSpace(transaction, space.id)
    const last = current?.revisionId ? await findRevision(transaction, current.revisionId) : undefined
    if (last?.digest === digest) return undefined
    const revision = await insertRevision(transaction, { spaceId: space.id, digest, pages })
    return { revision, isFirst: last === undefined }
  })
}
