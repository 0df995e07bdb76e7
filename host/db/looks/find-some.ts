import type { Db } from '../db.ts'
import { lookOn } from './look-on.ts'
import type { Asker } from './turns.ts'
import type { Look, Looked } from './window.ts'

/**
 * The first up to `limit` that fit, in as many looks as that takes.
 *
 * @param page.place an id: only what comes after it in the list
 */
export async function findSome<Item>(
  db: Db,
  asker: Asker,
  page: Pick<Look, 'place' | 'limit'>,
  look: (look: Look) => Promise<Looked<Item>>,
): Promise<Item[]> {
  const found: Item[] = []
  let { place } = page
  const lookHere = async (rows: number | undefined) => {
    const { items, reached } = await look({ place, rows, limit: page.limit - found.length })
    found.push(...items)
    place = reached
    return reached !== undefined && found.length < page.limit
  }
  await lookOn(db, asker, lookHere)
  return found
}
