/** How many jobs of each lane run, and which may run next. */
export type Lanes = {
  enter: (lane: string) => void
  leave: (lane: string) => void
  /** Lanes that have their share. */
  full: () => string[]
  /** Of due jobs, in their order, as many as may be started: none over its lane's share. */
  choose: <T extends { lane: string }>(due: readonly T[], limit: number) => T[]
}

/** @param perLane jobs of one lane at once */
export function createLanes(perLane: number): Lanes {
  const running = new Map<string, number>()
  const countOf = (lane: string) => running.get(lane) ?? 0
  return {
    enter(lane) {
      running.set(lane, countOf(lane) + 1)
    },
    leave(lane) {
      if (countOf(lane) <= 1) running.delete(lane)
      else running.set(lane, countOf(lane) - 1)
    },
    full: () => [...running].filter(([, count]) => count >= perLane).map(([lane]) => lane),
    choose(due, limit) {
      const chosen = new Map<string, number>()
      return due
        .filter(({ lane }) => {
          const count = (chosen.get(lane) ?? countOf(lane)) + 1
          if (count > perLane) return false
          chosen.set(lane, count)
          return true
        })
        .slice(0, limit)
    },
  }
}
