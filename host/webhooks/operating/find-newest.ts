import type { Db } from '../../db/db.ts'
import type { Look, Looked } from '../../db/queries/operating/window.ts'
import { lookOn } from './look-on.ts'

/**
 * The newest that there are, found in as many looks as that takes.
 *
 * @param page.before an id: only what comes after it in the list
 * @param gone aborted when whoever asked has left
 */
export async function findNewest<Item>(
  db: Db,
  page: Pick<Look, 'before' | 'limit'>,
  gone: AbortSignal,
  look: (look: Look) => Promise<Looked<Item>>,
): Promise<Item[]> {
  const found: Item[] = []
  let { before } = page
  await lookOn(
    db,
    async (rows) => {
      const { items, reached } = await look({ before, rows, limit: page.limit - found.length })
      found.push(...items)
      before = reached
      return reached !== undefined && found.length < page.limit
    },
    gone,
  )
  return found
}
