import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../db.ts'
import { rowsOfLook } from './window.ts'

/**
 * Looks further until that is far enough: what is asked for may be the last of a million rows.
 *
 * @param look looks at so many rows, or at all. @returns whether there are more, and they matter
 * @param gone once it is aborted nobody waits for what comes of it
 */
export async function lookOn(
  db: Db,
  look: (rows: number | undefined) => Promise<boolean>,
  gone?: AbortSignal,
): Promise<void> {
  let isMore = await look(rowsOfLook(db, true))
  // Whoever has left while it was not their turn is looked for no more: the database may be closed by then.
  const lookFar = async () => !gone?.aborted && look(rowsOfLook(db, false))
  while (isMore) isMore = await inTurn(lookFar)
}

/**
 * Reads what has to be read to its end, in turn with those who look far.
 *
 * @param gone as with `lookOn`: nothing is read for somebody who has left
 */
export const readInTurn = <Item>(read: () => Promise<Item[]>, gone: AbortSignal): Promise<Item[]> =>
  inTurn(async () => (gone.aborted ? [] : read()))

let lastTurn = Promise.resolve()

/**
 * Those who look far take turns, and after each look comes a pause that is as long: however many ask for however much, it is at
 * most half of a processor, and whoever finds at once what they ask for does not wait for them.
 */
export async function inTurn<T>(look: () => Promise<T>): Promise<T> {
  const before = lastTurn
  const { promise, resolve } = Promise.withResolvers<void>()
  lastTurn = promise
  await before
  const began = performance.now()
  try {
    return await look()
  } finally {
    sleep(performance.now() - began).then(resolve)
  }
}
