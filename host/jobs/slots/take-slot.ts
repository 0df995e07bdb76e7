import type { Clock } from '../../db/database-clock.ts'
import type { Health, Lanes } from './lanes.ts'
import type { Owners } from './owners.ts'
import type { Turns } from './turns.ts'

/** What there is room in: each lane, what each owner may have, and all. */
export type Slots = { lanes: Lanes; owners: Owners; turns: Turns }

/** What a job that runs keeps others from. */
export type Slot = {
  /** It is done. @returns whether its lane had no room until now */
  leave: (health: Health | undefined) => boolean
  /** What came of it is stored, or need not be. */
  give: () => void
}

export function takeSlot(
  { lanes, owners, turns }: Slots,
  { lane, owner, units }: { lane: string; owner: string; units: number },
  clock: Clock,
): Slot {
  lanes.enter(lane)
  owners.enter(owner, units)
  const turn = turns.take(clock.now(), units)
  return {
    leave(health) {
      owners.leave(owner, units)
      turns.end(turn)
      return lanes.leave(lane, health, clock.now())
    },
    give: () => turns.give(turn),
  }
}
