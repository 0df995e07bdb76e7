import { countFitting } from '../count-fitting.ts'
import type { Held } from '../db/queries/jobs.ts'
import { goRound } from './slots/go-round.ts'
import type { Room } from './slots/room.ts'
import { unitsOf } from './slots/units.ts'

/** Due jobs that are known, by owners and their lanes. They are still anybody's: one is claimed before it is done. */
export type DueBuffer = {
  put: (held: readonly Held[]) => void
  /** Up to `limit`, round robin over the owners and over the lanes of each, and no more of any than it has room for. */
  take: (limit: number, room: Room) => Held[]
  /** Of a lane, keeps as many as are due first. @returns whether there were more */
  cut: (lane: string, most: number) => boolean
  /** Lanes of which it holds jobs. */
  lanes: () => string[]
  has: (lane: string) => boolean
  /** How many it holds of an owner that were read. */
  readOf: (owner: string) => number
  /** Owners of which it holds as many that were read, or more. */
  ownersWith: (read: number) => string[]
  /** How many jobs it holds, how many of them were read, and how much text the others keep in memory, in characters. */
  size: () => { jobs: number; read: number; length: number }
}

type Lanes = Map<string, Held[]>

export function createDueBuffer(ownerOf: (held: Held) => string): DueBuffer {
  /** By owner and lane, both in the order in which it is their turn. */
  const owners = new Map<string, Lanes>()
  const ownerOfLane = new Map<string, string>()
  const ids = new Set<string>()
  const readOf = new Map<string, number>()
  let read = 0
  let length = 0
  return {
    put(held) {
      for (const one of held) {
        // One that was stored just now may have been read, too.
        if (ids.has(one.job.id)) continue
        ids.add(one.job.id)
        laneOf(one).push(one)
        count(one, 1)
      }
    },
    take(limit, room) {
      const taken: Held[] = []
      const takeOfOwner = (owner: string, lanes: Lanes, most: number) => {
        const takeOfLane = (lane: string, held: Held[], ofLane: number) => {
          const next = held.slice(0, Math.max(0, Math.min(ofLane, room.ofLane(lane))))
          const turns = held.splice(
            0,
            countFitting(next, room.ofOwner(owner), ({ length }) => unitsOf(length)),
          )
          room.take(owner, lane, turns)
          taken.push(...turns)
          for (const one of turns) forget(one)
          if (held.length === 0) ownerOfLane.delete(lane)
          return turns.length
        }
        const ofOwner = Math.max(0, Math.min(most, room.ofOwner(owner)))
        return goRound(lanes, ofOwner, takeOfLane, (held) => held.length === 0)
      }
      goRound(owners, limit, takeOfOwner, (lanes) => lanes.size === 0)
      return taken
    },
    cut(lane, most) {
      const cut =
        owners
          .get(ownerOfLane.get(lane) ?? '')
          ?.get(lane)
          ?.splice(most) ?? []
      for (const one of cut) forget(one)
      return cut.length > 0
    },
    lanes: () => [...ownerOfLane.keys()],
    has: (lane) => ownerOfLane.has(lane),
    readOf: (owner) => readOf.get(owner) ?? 0,
    ownersWith: (least) => [...readOf].flatMap(([owner, count]) => (count >= least ? [owner] : [])),
    size: () => ({ jobs: ids.size, read, length }),
  }

  function laneOf(one: Held): Held[] {
    const { lane } = one.job
    const owner = ownerOfLane.get(lane) ?? ownerOf(one)
    ownerOfLane.set(lane, owner)
    const lanes: Lanes = owners.get(owner) ?? new Map()
    owners.set(owner, lanes)
    const held = lanes.get(lane) ?? []
    lanes.set(lane, held)
    return held
  }

  function forget(one: Held): void {
    ids.delete(one.job.id)
    count(one, -1)
  }

  /** What was read is counted by its number, what was handed over by its text. */
  function count(one: Held, step: 1 | -1): void {
    if (one.isRead !== true) {
      length += step * one.length
      return
    }
    read += step
    const owner = ownerOfLane.get(one.job.lane) ?? ''
    const ofOwner = (readOf.get(owner) ?? 0) + step
    if (ofOwner === 0) readOf.delete(owner)
    else readOf.set(owner, ofOwner)
  }
}

/** How many of the jobs are of each lane. */
export function countLanes(jobs: readonly { lane: string }[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { lane } of jobs) counts.set(lane, (counts.get(lane) ?? 0) + 1)
  return counts
}
