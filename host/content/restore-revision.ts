import type { Db } from '../db/db.ts'
import { findPage, listPages } from '../db/queries/pages.ts'
import type { Space } from '../db/queries/places.ts'
import type { Revision } from '../db/queries/revisions.ts'
import { AnnexError } from '../errors.ts'
import { assertEditable } from './edit-pages.ts'
import type { By, ContentWriter } from './write-content.ts'

/**
 * Makes a revision whose pages are those of an older one.
 *
 * @returns undefined where nothing differs
 * @throws AnnexError `conflict`, `content_quota`; `not_found` when the older one is pruned meanwhile
 */
export async function restoreRevision(
  { db, content, space, by }: { db: Db; content: ContentWriter; space: Space; by: By },
  { number, id }: Revision,
): Promise<Revision | undefined> {
  assertEditable(space)
  const old = { spaceId: space.id, number }
  const pages = await listPages(db, old)
  const wanted = pages.map(({ position: _, ...page }) => ({
    ...page,
    readText: async () => {
      const stored = await findPage(db, old, page.id)
      if (stored !== undefined) return { markdown: stored.markdown, document: stored.document }
      throw new AnnexError('not_found', `The space ${space.id} no longer keeps the revision ${id}.`)
    },
  }))
  return content.write(space, by, () => wanted)
}
