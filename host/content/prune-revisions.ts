import { nowOf } from '../db/database-clock.ts'
import type { Db } from '../db/db.ts'
import { inSteps, stepSize } from '../db/in-steps.ts'
import { pruneEndedPages } from '../db/queries/pages.ts'
import { listSpaces } from '../db/queries/places.ts'
import { isOnlyPruner } from '../db/queries/prune.ts'
import { pruneRevisions } from '../db/queries/revisions.ts'
import { writeTransaction } from '../db/sql.ts'

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
  for (const { id: spaceId } of await listSpaces(db)) {
    const step = () =>
      writeTransaction(db, async (transaction) => {
        if (!(await isOnlyPruner(transaction))) return { changed: 0, more: false }
        const number = await pruneRevisions(transaction, spaceId, before)
        const changed = await pruneEndedPages(transaction, { spaceId, number }, stepSize)
        return { changed, more: changed === stepSize }
      })
    await inSteps(step, ending)
  }
}
