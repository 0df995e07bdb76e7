/**
 * How many jobs run. Those that have run for longer than `youngMs` only wait for somebody, and do not count against
 * `most`: a few that never answer must not take the turns of all others. Against `mostInAll` everything counts.
 */
export type Turns = {
  take: (nowMs: number) => Turn
  give: (turn: Turn) => void
  /** @param more how many more than `most` may run now */
  free: (nowMs: number, more?: number) => number
  /** When the oldest that counts no longer will, in Unix ms. */
  nextFreeAt: () => number | undefined
}

export type Turn = { startedMs: number; counts: boolean; isOver: boolean }

const youngMs = 250

export function createTurns(most: number, mostInAll: number): Turns {
  /** The oldest first; those that are over are dropped when their turn comes. */
  let young: Turn[] = []
  let counting = 0
  let all = 0
  return {
    take(nowMs) {
      const turn = { startedMs: nowMs, counts: true, isOver: false }
      young.push(turn)
      counting += 1
      all += 1
      return turn
    },
    give(turn) {
      turn.isOver = true
      all -= 1
      if (turn.counts) counting -= 1
      turn.counts = false
    },
    free(nowMs, more = 0) {
      dropOld(nowMs)
      return Math.max(0, Math.min(most + more - counting, mostInAll - all))
    },
    nextFreeAt() {
      const oldest = young.find(({ counts }) => counts)
      return oldest && oldest.startedMs + youngMs
    },
  }

  function dropOld(nowMs: number): void {
    let n = 0
    for (const turn of young) {
      const isOld = turn.startedMs + youngMs <= nowMs
      if (!turn.isOver && !isOld) break
      if (turn.counts) counting -= 1
      turn.counts = false
      n += 1
    }
    if (n > 0) young = young.slice(n)
  }
}
