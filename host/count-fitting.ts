/**
 * How many of the first ones there is room for. The last of them may be larger than what is left: it would wait for ever where small
 * ones take whatever is free.
 */
export function countFitting<One>(some: readonly One[], room: number, sizeOf: (one: One) => number): number {
  let left = room
  let count = 0
  for (const one of some) {
    if (left <= 0) break
    left -= sizeOf(one)
    count += 1
  }
  return count
}
