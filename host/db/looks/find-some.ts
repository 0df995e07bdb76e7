import type { Db } from '../db.ts'
import { lookOn } from './look-on.ts'
import type { Look, Looked } from './window.ts'

/**
 * The first up to `limit` that fit, in as many looks as that takes.
 *
 * @param page.place an id: only what comes after it in the list
 * @param gone aborted when whoever asked has left
 */
export async function findSome<Item>(
  db: Db,
  page: Pick<Look, 'place' | 'limit'>,
  look: (look: Look) => Promise<Looked<Item>>,
  gone?: AbortSignal,
): Promise<Item[]> {
  const found: Item[] = []
  let { place } = page
  const lookHere = async (rows: number | undefined) => {
    const { items, reached } = await look({ place, rows, limit: page.limit - found.length })
    found.push(...items)
    place = reached
    return reached !== undefined && found.length < page.limit
  }
  await lookOn(db, lookHere, gone)
  return found
}
