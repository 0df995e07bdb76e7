/** How many jobs of each owner run: whoever has thousands of lanes must not have all turns by that. */
export type Owners = {
  enter: (owner: string) => void
  leave: (owner: string) => void
  /** How many jobs of an owner may begin now. None has more turns than it leaves free for the others, however many there are. */
  roomOf: (owner: string) => number
}

/** @param most of all owners at once */
export function createOwners(most: number): Owners {
  const running = new Map<string, number>()
  let all = 0
  return {
    enter(owner) {
      running.set(owner, (running.get(owner) ?? 0) + 1)
      all += 1
    },
    leave(owner) {
      const left = (running.get(owner) ?? 1) - 1
      if (left === 0) running.delete(owner)
      else running.set(owner, left)
      all -= 1
    },
    // Each that begins is one more for it, and one less that is free.
    roomOf: (owner) => Math.max(0, Math.floor((most - all - (running.get(owner) ?? 0)) / 2)),
  }
}
