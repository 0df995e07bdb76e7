import type { Clock } from '../../../host/db/database-clock.ts'
import { nextTurn, turnsUnderWay } from './event-loop.ts'

/** Whose work it is: what belongs to a host ends with the host, and waits while the host is stalled. */
export type Owner = { isGone: boolean; stalledUntil: number }

/** A world whose time passes only when all that can go on without it has. */
export type World = {
  /** Ms since the beginning; never goes back. */
  time: () => number
  /** The machine's clock, in Unix ms. It may be set. */
  wall: () => number
  setWallForward: (ms: number) => void
  /** @returns calls it off */
  after: (ms: number, run: () => void, owner?: Owner) => () => void
  /** Does not jump. It begins with what the machine's clock shows, or is the database's, which all hosts share. */
  clockOf: (owner: Owner, isShared: boolean) => Clock
  note: (text: string) => void
  /** What has happened so far. */
  notes: readonly string[]
  /** When all has gone on that needs no time. */
  atRest: () => Promise<void>
  /** Goes to the next moment at which something happens. */
  goOn: () => void
}

type Timer = { at: number; run: () => void; owner: Owner | undefined }

export const epochMs = Date.UTC(2026, 0, 15, 12)

export function createWorld(): World {
  /** The next one last. */
  const timers: Timer[] = []
  const notes: string[] = []
  let now = 0
  let shiftMs = 0
  const wall = () => epochMs + now + shiftMs
  return {
    time: () => now,
    wall,
    setWallForward(ms) {
      shiftMs += ms
    },
    after,
    clockOf(owner, isShared) {
      const began = isShared ? epochMs : wall() - now
      return { now: () => began + now, wall, after: (ms, run) => after(ms, run, owner) }
    },
    note(text) {
      notes.push(`${(now / 1_000).toFixed(3).padStart(9)}  ${text}`)
    },
    notes,
    async atRest() {
      do await nextTurn()
      while (turnsUnderWay() > 0)
    },
    goOn() {
      const timer = timers.pop()
      if (timer === undefined) throw new Error('nothing is going to happen any more')
      now = Math.max(now, timer.at)
      const { owner } = timer
      if (owner?.isGone) return
      if (owner !== undefined && owner.stalledUntil > now) {
        timer.at = owner.stalledUntil
        insert(timer)
      } else timer.run()
    },
  }

  function after(ms: number, run: () => void, owner?: Owner): () => void {
    const timer = { at: now + Math.max(0, ms), run, owner }
    insert(timer)
    return () => {
      const index = timers.indexOf(timer)
      if (index >= 0) timers.splice(index, 1)
    }
  }

  /** Before those of the same moment that came earlier, as they are taken from the end. */
  function insert(timer: Timer): void {
    let index = timers.length
    while (index > 0 && (timers[index - 1]?.at ?? 0) <= timer.at) index -= 1
    timers.splice(index, 0, timer)
  }
}
