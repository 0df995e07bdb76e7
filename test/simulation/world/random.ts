/** Chance that a seed decides: the same seed, the same draws. */
export type Random = {
  /** From 0 to below 1. */
  next: () => number
  /** A whole number, both ends included. */
  between: (from: number, to: number) => number
  /** Whether something happens that happens with this probability. */
  chance: (probability: number) => boolean
  pick: <T>(choices: readonly [T, ...T[]]) => T
}

/** Mulberry32: 32 bits of state, which is enough for what is drawn in one schedule. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    next,
    between: (from, to) => from + Math.floor(next() * (to - from + 1)),
    chance: (probability) => next() < probability,
    pick: (choices) => choices[Math.floor(next() * choices.length)] ?? choices[0],
  }
}
