import type { Owners } from './owners.ts'
import { unitsOf } from './units.ts'

/** How much more may begin now: of an owner in units, of a lane in jobs. */
export type Room = {
  ofOwner: (owner: string) => number
  ofLane: (lane: string) => number
  /** Told of what is taken, so that there is less room for the next. */
  take: (owner: string, lane: string, taken: readonly { length: number }[]) => void
}

/** What there is room for, less what was taken since. */
export function countTaken({ roomOf }: Owners): (ofLane: (lane: string) => number) => Room {
  const taken = { owners: new Map<string, number>(), lanes: new Map<string, number>() }
  const add = (counts: Map<string, number>, name: string, count: number) =>
    counts.set(name, (counts.get(name) ?? 0) + count)
  return (ofLane) => ({
    ofOwner: (owner) => roomOf(owner) - (taken.owners.get(owner) ?? 0),
    ofLane: (lane) => ofLane(lane) - (taken.lanes.get(lane) ?? 0),
    take(owner, lane, jobs) {
      for (const { length } of jobs) add(taken.owners, owner, unitsOf(length))
      add(taken.lanes, lane, jobs.length)
    },
  })
}
