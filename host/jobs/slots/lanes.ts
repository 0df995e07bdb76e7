/** When a lane is left alone for a while: after so many failures in a row, and for how long. */
export type CircuitRules = {
  failures: number
  /** Doubled with each probe that fails, in ms. */
  firstMs: number
  longestMs: number
}

export type LaneRules = {
  /** Jobs of one lane at once. */
  most: number
  /** Of one that has not shown yet that it gets on: each success lets one more run. */
  first: number
  circuit?: CircuitRules
}

/** What a job has shown of its lane: a receiver that answers, or one that does not. */
export type Health = 'good' | 'bad'

/** Which lanes are left alone for a while, as their jobs have failed again and again. */
export type Circuits = {
  /** How many lanes are left alone for a while, or being probed. */
  openCircuits: () => number
  /** When a lane that is left alone may be probed, in Unix ms. */
  leftAloneUntil: (lane: string, nowMs: number) => number | undefined
  /** Forgets the failures of a lane that is left alone: its jobs may begin again. @returns whether it was left alone */
  closeCircuit: (lane: string) => boolean
}

/** How many jobs of each lane run, and how many more may: one lane's trouble takes its own turns alone. */
export type Lanes = Circuits & {
  enter: (lane: string) => void
  /** @returns whether it had no room until now */
  leave: (lane: string, health: Health | undefined, nowMs: number) => boolean
  /**
   * How many jobs of a lane may begin now.
   *
   * @param share no more of a lane than this are to run, or than it begins with. Default: as many as it may
   */
  roomsAt: (nowMs: number, share?: number) => (lane: string) => number
  /** Those of which none may begin now. */
  full: (nowMs: number) => string[]
  /** When the next lane that is left alone may be probed, in Unix ms. */
  nextProbeAt: (nowMs: number) => number | undefined
}

/** Lanes of which none runs. A well one that is forgotten begins again with the first share, one that fails with its probes. */
const remembered = { well: 500, failing: 10_000 }

type State = { running: number; most: number; failures: number; closedUntil: number; closedMs: number }

/** @param random from 0 to below 1; many lanes that fail together are not probed together */
export function createLanes(rules: LaneRules, random: () => number): Lanes {
  const { circuit } = rules
  const states = new Map<string, State>()
  /** Those of which none runs, the longest first. */
  const idle = { well: new Set<string>(), failing: new Set<string>() }
  const isOpen = ({ failures }: State) => circuit !== undefined && failures >= circuit.failures
  const probeAt = (state: State | undefined, nowMs: number): number | undefined =>
    state !== undefined && isOpen(state) && state.closedUntil > nowMs ? state.closedUntil : undefined
  return {
    enter(lane) {
      const state = states.get(lane)
      for (const some of [idle.well, idle.failing]) some.delete(lane)
      if (state !== undefined) state.running += 1
      else states.set(lane, { running: 1, most: rules.first, failures: 0, closedUntil: 0, closedMs: 0 })
    },
    leave(lane, health, nowMs) {
      const state = states.get(lane)
      if (state === undefined) return false
      const wasFull = roomOf(state, nowMs) === 0
      state.running -= 1
      if (health === 'good') recover(state)
      if (health === 'bad') worsen(state, nowMs)
      if (state.running === 0) remember(lane, state)
      return wasFull
    },
    roomsAt(nowMs, share = rules.most) {
      const most = Math.max(rules.first, share)
      return (lane) => {
        const state = states.get(lane)
        return state === undefined ? rules.first : roomOf(state, nowMs, most)
      }
    },
    full: (nowMs) => [...states].flatMap(([lane, state]) => (roomOf(state, nowMs) > 0 ? [] : [lane])),
    openCircuits: () => [...states.values()].filter(isOpen).length,
    leftAloneUntil: (lane, nowMs) => probeAt(states.get(lane), nowMs),
    closeCircuit(lane) {
      const state = states.get(lane)
      if (state === undefined || !isOpen(state)) return false
      Object.assign(state, { failures: 0, closedUntil: 0, closedMs: 0 })
      return true
    },
    nextProbeAt(nowMs) {
      let next: number | undefined
      for (const state of states.values()) {
        const at = probeAt(state, nowMs)
        if (at !== undefined && at < (next ?? Number.POSITIVE_INFINITY)) next = at
      }
      return next
    },
  }

  /** Not of all: whoever has made a million endpoints has not made them to be kept here. */
  function remember(lane: string, { failures, most }: State): void {
    if (failures === 0 && most <= rules.first) {
      states.delete(lane)
      return
    }
    const which = failures === 0 ? 'well' : 'failing'
    idle[which].add(lane)
    if (idle[which].size <= remembered[which]) return
    const [oldest = lane] = idle[which]
    idle[which].delete(oldest)
    states.delete(oldest)
  }

  function roomOf(state: State, nowMs: number, most = rules.most): number {
    if (!isOpen(state)) return Math.max(0, Math.min(state.most, most) - state.running)
    return state.closedUntil <= nowMs && state.running === 0 ? 1 : 0
  }

  function recover(state: State): void {
    state.failures = 0
    state.closedMs = 0
    state.most = Math.min(rules.most, state.most + 1)
  }

  function worsen(state: State, nowMs: number): void {
    state.failures += 1
    state.most = Math.max(1, state.most >> 1)
    if (circuit === undefined || !isOpen(state)) return
    // Those that were under way when it opened say nothing new.
    if (state.closedUntil > nowMs) return
    state.closedMs = Math.min(circuit.longestMs, state.closedMs === 0 ? circuit.firstMs : state.closedMs * 2)
    state.closedUntil = nowMs + Math.round(state.closedMs * (1 + 0.1 * random()))
  }
}
