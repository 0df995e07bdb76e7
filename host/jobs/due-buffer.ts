import type { Held } from '../db/queries/jobs.ts'

/** Due jobs that are known, by lanes. They are still anybody's: one is claimed before it is done. */
export type DueBuffer = {
  put: (held: readonly Held[]) => void
  /** Up to `limit`, round robin over the lanes, and no more of a lane than it has room for. */
  take: (limit: number, roomOf: (lane: string) => number) => Held[]
  /** Of a lane, keeps as many as are due first. @returns whether there were more */
  cut: (lane: string, most: number) => boolean
  /** Lanes of which it holds jobs. */
  lanes: () => string[]
  has: (lane: string) => boolean
  /** How many jobs it holds, how many of them were read, and how much text the others keep in memory, in characters. */
  size: () => { jobs: number; read: number; length: number }
}

export function createDueBuffer(): DueBuffer {
  /** In the order in which it is their turn. */
  const lanes = new Map<string, Held[]>()
  const ids = new Set<string>()
  let read = 0
  let length = 0
  return {
    put(held) {
      for (const one of held) {
        // One that was stored just now may have been read, too.
        if (ids.has(one.job.id)) continue
        ids.add(one.job.id)
        length += one.length
        if (one.length === 0) read += 1
        const ofLane = lanes.get(one.job.lane)
        if (ofLane === undefined) lanes.set(one.job.lane, [one])
        else ofLane.push(one)
      }
    },
    take(limit, roomOf) {
      const taken: Held[] = []
      const counts = new Map<string, number>()
      const share = Math.max(1, Math.ceil(limit / Math.max(1, lanes.size)))
      // Twice round: what some lanes have no room for goes to the others.
      for (const most of [share, limit]) {
        for (const [lane, held] of [...lanes]) {
          const turn = Math.min(most, held.length, roomOf(lane) - (counts.get(lane) ?? 0))
          const count = Math.min(turn, limit - taken.length)
          if (count < 1) continue
          const turns = held.splice(0, count)
          taken.push(...turns)
          forget(turns)
          counts.set(lane, (counts.get(lane) ?? 0) + count)
          // Its next turn comes after those of the others, unless there was not enough for all of this one.
          if (count < turn) continue
          lanes.delete(lane)
          if (held.length > 0) lanes.set(lane, held)
        }
      }
      return taken
    },
    cut(lane, most) {
      const cut = lanes.get(lane)?.splice(most) ?? []
      forget(cut)
      return cut.length > 0
    },
    lanes: () => [...lanes.keys()],
    has: (lane) => lanes.has(lane),
    size: () => ({ jobs: ids.size, read, length }),
  }

  function forget(gone: readonly Held[]): void {
    for (const one of gone) {
      ids.delete(one.job.id)
      length -= one.length
      if (one.length === 0) read -= 1
    }
  }
}

/** How many of the jobs are of each lane. */
export function countLanes(jobs: readonly { lane: string }[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { lane } of jobs) counts.set(lane, (counts.get(lane) ?? 0) + 1)
  return counts
}
