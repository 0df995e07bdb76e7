/**
 * Shares out up to `limit` among those whose turn it is, in two rounds: to each up to its even share, and then what some have no
 * use for goes to the others. Whoever had a turn comes after the others from then on, unless there was not enough for all of it.
 *
 * @param take takes up to so much of one. @returns how much
 * @param isEmpty there is nothing left of it: it has no turns any more
 * @returns how much was taken of all
 */
export function goRound<One>(
  turns: Map<string, One>,
  limit: number,
  take: (name: string, one: One, most: number) => number,
  isEmpty: (one: One) => boolean,
): number {
  const share = Math.max(1, Math.ceil(limit / Math.max(1, turns.size)))
  let left = limit
  for (const most of [share, limit]) {
    for (const [name, one] of [...turns]) {
      if (left === 0) return limit
      const asked = Math.min(most, left)
      const count = take(name, one, asked)
      left -= count
      const isCutShort = count === asked && asked < most
      if (!isEmpty(one) && (count === 0 || isCutShort)) continue
      turns.delete(name)
      if (!isEmpty(one)) turns.set(name, one)
    }
  }
  return limit - left
}
