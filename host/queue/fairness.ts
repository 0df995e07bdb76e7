/** `failures` in a row open a circuit. The other fields say for how long it holds a lane back. */
export type CircuitRules = {
  failures: number
  /** Doubled after each failed probe, in ms. */
  firstMs: number
  longestMs: number
}

export type LaneRules = {
  /** Jobs of one lane in flight. */
  most: number
  /** The limit of a new lane. Each success raises it by one, each failure halves it. */
  first: number
  circuit?: CircuitRules
}

/** `good`: the receiver answers. `bad`: the receiver fails. */
export type Health = 'good' | 'bad'

/** The fields of a job that fairness needs. `owner` is an installation, `size` the text in memory in bytes. */
export type Sharing = { lane: string; owner: string; size: number; attempt: number }

export type Circuits = {
  /** The number of circuits that are open or being probed. */
  openCircuits: () => number
  /** When the lane's open circuit lets a probe pass, in Unix ms. */
  heldBackUntil: (lane: string, nowMs: number) => number | undefined
  /** Closes the lane's circuit. @returns whether it was open */
  closeCircuit: (lane: string) => boolean
}

/** Limits of jobs in flight: in all, for each owner, and for each lane. */
export type Fairness = Circuits & {
  /** The weight of jobs that may begin now. */
  free: () => number
  /** Lanes that may begin no job. */
  fullLanes: (nowMs: number) => string[]
  /** Lanes that may begin retries only: their circuits are open. */
  openLanes: (nowMs: number) => string[]
  /** Owners that may begin no job. */
  fullOwners: () => string[]
  /** Chooses at most `most` jobs round robin over owners and the lanes of each, and counts them as in flight. */
  choose: <Job extends Sharing>(candidates: readonly Job[], nowMs: number, most?: number) => Job[]
  /** Ends the run of a job: its lane and its owner may begin other jobs. */
  end: (job: Sharing, health: Health | undefined, nowMs: number) => void
  /** Frees a job's weight once its outcome is stored. Until then a crash would repeat the job. */
  release: (job: Sharing) => void
  /** When the next open circuit lets a probe pass, in Unix ms. */
  nextProbeAt: (nowMs: number) => number | undefined
}

/** The weight of a job grows with its text, which is in memory while the job is in flight. */
export const weightOf = ({ size }: Pick<Sharing, 'size'>): number => 1 + Math.floor(size / 65_536)

/** The part of the free weight that one owner may take. The rest is for later owners. */
const ownerShare = 3 / 4
/** Remembered lanes and owners without a job in flight, so that they keep their turns. */
const mostIdle = 1_000

type Lane = { running: number; limit: number; failures: number; openUntil: number; pauseMs: number }

/**
 * @param total weight in flight at most
 * @param random from 0 to below 1: circuits that open together are not probed together
 */
export function createFairness(total: number, rules: LaneRules, random: () => number): Fairness {
  const { circuit } = rules
  /** The lane that was chosen longest ago comes first. */
  const lanes = new Map<string, Lane>()
  /** Weight in flight. The owner that was chosen longest ago comes first. */
  const owners = new Map<string, number>()
  let inFlight = 0
  const isIdle = ({ running }: Lane) => running === 0
  const isOpen = ({ failures }: Lane) => circuit !== undefined && failures >= circuit.failures
  return {
    free: () => total - inFlight,
    fullLanes: (nowMs) => namesOf(lanes, (lane) => lane.running >= limitOf(lane, nowMs)),
    openLanes: (nowMs) => namesOf(lanes, (lane) => isOpen(lane) && !mayProbe(lane, nowMs)),
    fullOwners: () => [...owners.keys()].filter((owner) => roomOfOwner(owner) <= 0),
    choose,
    end,
    release(job) {
      inFlight -= weightOf(job)
    },
    openCircuits: () => namesOf(lanes, isOpen).length,
    heldBackUntil(name, nowMs) {
      const lane = lanes.get(name)
      return lane !== undefined && isOpen(lane) && lane.openUntil > nowMs ? lane.openUntil : undefined
    },
    closeCircuit(name) {
      const lane = lanes.get(name)
      if (lane === undefined || !isOpen(lane)) return false
      lanes.set(name, { ...newLane(), running: lane.running })
      return true
    },
    nextProbeAt(nowMs) {
      const times = [...lanes.values()].flatMap((lane) =>
        isOpen(lane) && lane.openUntil > nowMs ? [lane.openUntil] : [],
      )
      return times.length === 0 ? undefined : times.reduce((one, other) => Math.min(one, other))
    },
  }

  function choose<Job extends Sharing>(candidates: readonly Job[], nowMs: number, most = total): Job[] {
    const chosen: Job[] = []
    const waiting = Map.groupBy(candidates, ({ owner }) => owner)
    let owner = nextOf(waiting, owners)
    const lanesOf = new Map([...waiting].map(([name, jobs]) => [name, Map.groupBy(jobs, ({ lane }) => lane)]))
    while (owner !== undefined && inFlight < total && chosen.length < most) {
      const job = nextJob<Job>(lanesOf.get(owner) ?? new Map(), owner, nowMs)
      if (job === undefined) waiting.delete(owner)
      else {
        begin(job)
        chosen.push(job)
      }
      owner = nextOf(waiting, owners)
    }
    return chosen
  }

  /** The next job of the owner's lanes, in turn. A lane without one is dropped from `waiting`. */
  function nextJob<Job extends Sharing>(
    waiting: Map<string, Job[]>,
    owner: string,
    nowMs: number,
  ): Job | undefined {
    if (roomOfOwner(owner) <= 0) return undefined
    for (;;) {
      const name = nextOf(waiting, lanes)
      if (name === undefined) return undefined
      const jobs = waiting.get(name) ?? []
      const at = jobs.findIndex((job) => mayBegin(job, nowMs))
      const [job] = at === -1 ? [] : jobs.splice(at, 1)
      if (job !== undefined) return job
      waiting.delete(name)
    }
  }

  function mayBegin({ lane: name, attempt }: Sharing, nowMs: number): boolean {
    const lane = lanes.get(name)
    if (lane === undefined) return true
    if (lane.running >= limitOf(lane, nowMs)) return false
    // An open circuit holds back first attempts only: retries keep their schedule.
    return !isOpen(lane) || attempt > 0 || mayProbe(lane, nowMs)
  }

  function begin(job: Sharing): void {
    const lane = lanes.get(job.lane) ?? newLane()
    lane.running += 1
    putLast(lanes, job.lane, lane)
    putLast(owners, job.owner, (owners.get(job.owner) ?? 0) + weightOf(job))
    inFlight += weightOf(job)
  }

  function end(job: Sharing, health: Health | undefined, nowMs: number): void {
    owners.set(job.owner, (owners.get(job.owner) ?? 0) - weightOf(job))
    forgetIdle(owners, (weight) => weight <= 0)
    const lane = lanes.get(job.lane)
    if (lane === undefined) return
    lane.running -= 1
    if (health === 'good') recover(lane)
    if (health === 'bad') worsen(lane, nowMs)
    if (lane.running === 0) forgetIdle(lanes, isIdle, isOpen)
  }

  /** An installation can make a million receivers: only some lanes are remembered, open circuits the longest. */
  function forgetIdle<Value>(
    map: Map<string, Value>,
    isIdle: (value: Value) => boolean,
    isKept: (value: Value) => boolean = () => false,
  ): void {
    if (map.size <= mostIdle + total) return
    const idle = [...map].filter(([, value]) => isIdle(value))
    const [oldest] = idle.find(([, value]) => !isKept(value)) ?? idle[0] ?? []
    if (oldest !== undefined) map.delete(oldest)
  }

  function roomOfOwner(owner: string): number {
    const own = owners.get(owner) ?? 0
    return Math.ceil((total - inFlight + own) * ownerShare) - own
  }

  function limitOf(lane: Lane, nowMs: number): number {
    return isOpen(lane) && mayProbe(lane, nowMs) ? 1 : lane.limit
  }

  function mayProbe(lane: Lane, nowMs: number): boolean {
    return lane.openUntil <= nowMs && lane.running === 0
  }

  function newLane(): Lane {
    return { running: 0, limit: rules.first, failures: 0, openUntil: 0, pauseMs: 0 }
  }

  function recover(lane: Lane): void {
    lane.failures = 0
    lane.pauseMs = 0
    lane.limit = Math.min(rules.most, lane.limit + 1)
  }

  function worsen(lane: Lane, nowMs: number): void {
    lane.failures += 1
    lane.limit = Math.max(1, lane.limit >> 1)
    // A job that was in flight when the circuit opened must not extend it.
    if (circuit === undefined || !isOpen(lane) || lane.openUntil > nowMs) return
    lane.pauseMs = Math.min(circuit.longestMs, lane.pauseMs === 0 ? circuit.firstMs : lane.pauseMs * 2)
    lane.openUntil = nowMs + Math.round(lane.pauseMs * (1 + 0.1 * random()))
  }
}

function namesOf<Value>(map: Map<string, Value>, test: (value: Value) => boolean): string[] {
  return [...map].flatMap(([name, value]) => (test(value) ? [name] : []))
}

function putLast<Value>(map: Map<string, Value>, name: string, value: Value): void {
  map.delete(name)
  map.set(name, value)
}

/** Of the waiting names the first that had no turn yet, else the one whose turn was the longest ago. */
function nextOf(waiting: Map<string, unknown>, turns: Map<string, unknown>): string | undefined {
  for (const name of waiting.keys()) if (!turns.has(name)) return name
  for (const name of turns.keys()) if (waiting.has(name)) return name
  return undefined
}
