/**
 * How many jobs of each owner run, in units (`unitsOf`): whoever has thousands of lanes, or large jobs, must not have all turns by
 * that.
 */
export type Owners = {
  enter: (owner: string, units: number) => void
  leave: (owner: string, units: number) => void
  /** How much of an owner may begin now. None has more turns than it leaves free for the others, however many there are. */
  roomOf: (owner: string) => number
}

/** @param most of all owners at once, in units */
export function createOwners(most: number): Owners {
  const running = new Map<string, number>()
  let all = 0
  return {
    enter(owner, units) {
      running.set(owner, (running.get(owner) ?? 0) + units)
      all += units
    },
    leave(owner, units) {
      const left = (running.get(owner) ?? units) - units
      if (left === 0) running.delete(owner)
      else running.set(owner, left)
      all -= units
    },
    // Each that begins is one more for it, and one less that is free.
    roomOf: (owner) => Math.max(0, Math.floor((most - all - (running.get(owner) ?? 0)) / 2)),
  }
}
