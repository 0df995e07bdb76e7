import timers from 'node:timers/promises'

/** A turn of the event loop, whatever `countTurns` has made of the one that others get. */
export const nextTurn = timers.setImmediate

let underWay = 0

/** How many turns of the event loop are awaited elsewhere. */
export const turnsUnderWay = (): number => underWay

/** What others get instead: a turn that is counted. */
export const countedTurn = async (): Promise<void> => {
  underWay += 1
  await nextTurn()
  underWay -= 1
}
