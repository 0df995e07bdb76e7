import type { Db } from '../db.ts'
import { isPostgres } from '../sql.ts'
import { type Asker, inTurn } from './turns.ts'
import { rowsOfLook } from './window.ts'

/**
 * Looks further until that is far enough: what is asked for may be the last of a million rows. The first look at few of them waits
 * for nobody.
 *
 * @param look looks at so many rows, or at all. @returns whether there are more, and they matter
 */
export async function lookOn(
  db: Db,
  asker: Asker,
  look: (rows: number | undefined) => Promise<boolean>,
): Promise<void> {
  const lookFar = () => look(rowsOfLook(db, false))
  let isMore: boolean | undefined = isPostgres(db) || (await look(rowsOfLook(db, true)))
  while (isMore) isMore = await inTurn(db, asker, lookFar)
}
