import { nowOf } from '../db/database-clock.ts'
import type { Db } from '../db/db.ts'
import { inSteps, stepSize } from '../db/in-steps.ts'
import { dropEndedTexts, pruneEndedPages } from '../db/queries/pages.ts'
import { findSpaceAfter, lockPlace } from '../db/queries/places.ts'
import { isOnlyPruner } from '../db/queries/prune.ts'
import { pruneRevisions } from '../db/queries/revisions.ts'
import { transact } from '../db/sql.ts'

/**
 * Removes revisions that were replaced longer ago than `ageMs`, with the pages that only they hold. The current revision
 * of a space stays.
 *
 * @param ageMs undefined: all revisions stay
 * @param ending once it is aborted, the next round does the rest
 */
export async function pruneContent(db: Db, ageMs: number | undefined, ending?: AbortSignal): Promise<void> {
  if (ageMs === undefined) return
  const before = nowOf(db) - ageMs
  let id = await findSpaceAfter(db, '')
  while (id !== undefined) {
    await pruneSpace(db, id, before, ending)
    id = await findSpaceAfter(db, id)
  }
}

function pruneSpace(db: Db, spaceId: string, before: number, ending?: AbortSignal): Promise<unknown> {
  const step = () =>
    transact(db, async (transaction) => {
      if (!(await isOnlyPruner(transaction))) return { changed: 0, more: false }
      // Writers and deletions lock a space before its pages, too.
      await lockPlace(transaction, 'space', spaceId)
      const number = await pruneRevisions(transaction, spaceId, before)
      const changed = await pruneEndedPages(transaction, { spaceId, number }, stepSize)
      const dropped = await dropEndedTexts(transaction, { spaceId, number }, stepSize)
      return { changed: changed + dropped, more: changed === stepSize || dropped === stepSize }
    })
  return inSteps(step, ending)
}
