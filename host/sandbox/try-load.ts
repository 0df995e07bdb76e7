import { availableParallelism } from 'node:os'
import { stoppingError } from '../errors.ts'
import type { Tried, TryLoad } from '../versions/try-version.ts'
import { startTrialProcess, type TrialOptions, type TrialProcess } from './trial-process.ts'

const maxTries = 3
/** Many versions of a publisher follow each other when plugin folders are loaded. */
const idleMs = 2_000
const maxProcesses = availableParallelism()

/** The versions of one publisher, which wait for each other. */
type Lane = {
  last: Promise<unknown>
  waiting: number
  process?: TrialProcess | undefined
  idle?: NodeJS.Timeout | undefined
}

export type Trials = { tryLoad: TryLoad; close: () => Promise<void> }

/**
 * Loads versions in sandbox processes without host calls. Attack: a script breaks its process, or fakes the outcome of the
 * next version. So a process tries the versions of one publisher only, one at a time, and what an earlier version may have
 * caused does not count: the version is tried again in a process of its own.
 */
export function createTryLoad(options: TrialOptions): Trials {
  const lanes = new Map<string, Lane>()
  let isClosed = false
  return {
    tryLoad({ publisher, integration, code }) {
      const lane = lanes.get(publisher) ?? { last: Promise.resolve(), waiting: 0 }
      lanes.set(publisher, lane)
      lane.waiting += 1
      const tried = lane.last.then(() => tryInLane(lane, integration, code))
      lane.last = tried.catch(() => {}).then(() => leaveLane(publisher, lane))
      return tried
    },
    async close() {
      isClosed = true
      await Promise.all([...lanes.values()].map(endProcess))
    },
  }

  async function tryInLane(lane: Lane, integration: string, code: string): Promise<Tried> {
    for (let triesAlone = 0; ; ) {
      const trial = await takeProcess(lane)
      const { isSure, isStarved, ...tried } = await trial.tryOne(integration, code)
      if (isClosed) throw stoppingError()
      if (isSure) return tried
      const isAlone = trial.begun() === 1
      await endProcess(lane)
      if (isAlone) triesAlone += 1
      if (isAlone && (!isStarved || triesAlone === maxTries)) return tried
    }
  }

  async function takeProcess(lane: Lane): Promise<TrialProcess> {
    clearTimeout(lane.idle)
    if (lane.process?.isUsable()) return lane.process
    await endProcess(lane)
    // An idle process of another publisher makes room.
    const open = [...lanes.values()].filter(({ process }) => process !== undefined)
    const idle = open.filter(({ waiting }) => waiting === 0)
    await Promise.all(idle.slice(0, Math.max(0, open.length - maxProcesses + 1)).map(endProcess))
    if (isClosed) throw stoppingError()
    lane.process = startTrialProcess(options)
    return lane.process
  }

  function leaveLane(publisher: string, lane: Lane): void {
    lane.waiting -= 1
    if (lane.waiting > 0) return
    lane.idle = setTimeout(() => {
      lanes.delete(publisher)
      void endProcess(lane)
    }, idleMs).unref()
  }
}

async function endProcess(lane: Lane): Promise<void> {
  const { process } = lane
  lane.process = undefined
  await process?.end()
}
