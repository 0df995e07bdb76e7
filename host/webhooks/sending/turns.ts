/**
 * How many jobs run. Those that have run for longer than `youngMs` only wait for somebody, and do not count against
 * `most`: a few that never answer must not take the turns of all others. Those that are done count until that is stored, against
 * twice `most`: they are done again after a crash. Against `mostInAll` everything counts, a large one for several (`unitsOf`).
 */
export type Turns = {
  take: (nowMs: number, units?: number) => Turn
  /** It is done, and not stored. */
  end: (turn: Turn) => void
  /** It is over: what came of it is stored, or need not be. */
  give: (turn: Turn) => void
  free: (nowMs: number) => number
  /** When the oldest that counts no longer will, in Unix ms. */
  nextFreeAt: () => number | undefined
}

export type Turn = { startedMs: number; units: number; counts: boolean; state: 'runs' | 'done' | 'over' }

const youngMs = 250
/** Of `most`: how many that run, or are done and not stored, there are at the most. */
const notStored = 2

/** @param ahead how many more than `most` may run, as they wait for each other elsewhere */
export function createTurns(most: number, mostInAll: number, ahead = 0): Turns {
  /** The oldest first; those that run no more are dropped when their turn comes. */
  let young: Turn[] = []
  let counting = 0
  let done = 0
  let all = 0
  return {
    take(nowMs, units = 1) {
      const turn: Turn = { startedMs: nowMs, units, counts: true, state: 'runs' }
      young.push(turn)
      counting += 1
      all += units
      return turn
    },
    end(turn) {
      stop(turn)
      turn.state = 'done'
      done += 1
    },
    give(turn) {
      if (turn.state === 'done') done -= 1
      else stop(turn)
      turn.state = 'over'
      all -= turn.units
    },
    free(nowMs) {
      dropOld(nowMs)
      const free = Math.min(most + ahead - counting, notStored * most - counting - done, mostInAll - all)
      return Math.max(0, free)
    },
    nextFreeAt() {
      const oldest = young.find(({ counts }) => counts)
      return oldest && oldest.startedMs + youngMs
    },
  }

  function stop(turn: Turn): void {
    if (turn.counts) counting -= 1
    turn.counts = false
  }

  function dropOld(nowMs: number): void {
    let n = 0
    for (const turn of young) {
      if (turn.state === 'runs' && turn.startedMs + youngMs > nowMs) break
      stop(turn)
      n += 1
    }
    if (n > 0) young = young.slice(n)
  }
}
