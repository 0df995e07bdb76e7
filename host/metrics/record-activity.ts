import type { Db } from '../db/db.ts'
import {
  type ActivityChunk,
  deleteChunks,
  listChunks,
  lockChunk,
  updateChunk,
} from '../db/queries/activity.ts'
import { transact } from '../db/sql.ts'
import { createWriteBehind } from '../db/write-behind.ts'
import { measured } from '../sandbox/receipt.ts'
import {
  addCounts,
  addTime,
  type Counts,
  noCounts,
  packSlots,
  type Slots,
  unpackSlots,
} from './activity-counts.ts'

/** A dispatch that has ended. */
type SeenDispatch = {
  organizationId?: string
  type: string
  outcome: string
  status?: number
  wallMs: number
  cpuMs: number
}
/** An attempt at a delivery, or its end without one. */
type SeenAttempt = { organizationId: string; state: string; attempt?: { durationMs: number } }
/** The load of this host, and the pending work of all. An organization without pending work is not in it. */
export type Load = Pick<Counts, 'memoryBytes' | 'backlog' | 'oldestMs'> & {
  ofOrganizations: readonly (Pick<Counts, 'backlog' | 'oldestMs'> & { organizationId: string })[]
}

export type ActivityRecorder = {
  noteDispatch: (dispatch: SeenDispatch) => void
  noteAttempt: (attempt: SeenAttempt) => void
  noteLoad: (load: Load) => void
  /**
   * Notes the load once a minute.
   *
   * @returns stops it
   */
  watch: (readLoad: () => Promise<Load>) => () => void
  /** Stores all counts so far. */
  flush: () => Promise<void>
  close: () => Promise<void>
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
/** All of Annex. */
export const wholeAnnex = ''

/** How fine the counts are, how many slots a row has, and how long they are kept. */
export const steps = {
  minute: { stepMs: minuteMs, chunkMs: hourMs, keptMs: dayMs },
  hour: { stepMs: hourMs, chunkMs: dayMs, keptMs: 8 * dayMs },
} as const

type Step = (typeof steps)[keyof typeof steps]

const flushEveryMs = 60_000
/** Of one transaction: other writes wait for its end. */
const chunksAtOnce = 20

/**
 * Counts what the charts show: of each organization by the hour, of all of Annex by the minute, too. Written once a minute
 * while there is work; a killed host loses the last ones.
 */
export function createActivityRecorder(
  db: Db,
  onDefect: (error: unknown) => void,
  now: () => number = Date.now,
): ActivityRecorder {
  let counts = new Map<string, { key: Omit<ActivityChunk, 'slots'>; slots: Slots }>()
  let prunedHour = 0
  const writing = createWriteBehind(store, flushEveryMs, onDefect)
  return {
    noteDispatch({ organizationId, type, outcome, status, wallMs, cpuMs }) {
      count(organizationId, (slot) => {
        slot.cpuMs += measured(cpuMs)
        if (type !== 'fetch') return
        slot.requests += 1
        if (outcome !== 'ok' || (status ?? 0) >= 500) slot.failedRequests += 1
        addTime(slot.requestTimes, measured(wallMs))
      })
    },
    noteAttempt({ organizationId, state, attempt }) {
      count(organizationId, (slot) => {
        if (state === 'delivered' || state === 'failed') slot[state] += 1
        if (attempt === undefined) return
        slot.attempts += 1
        addTime(slot.attemptTimes, measured(attempt.durationMs))
      })
    },
    noteLoad,
    watch(readLoad) {
      const timer = setInterval(() => readLoad().then(noteLoad).catch(onDefect), minuteMs)
      return () => clearInterval(timer)
    },
    flush: writing.flush,
    close: writing.close,
  }

  function count(organizationId: string | undefined, add: (slot: Counts) => void): void {
    add(slotOf(wholeAnnex, steps.minute))
    add(slotOf(wholeAnnex, steps.hour))
    if (organizationId !== undefined) add(slotOf(organizationId, steps.hour))
    writing.note()
  }

  function slotOf(owner: string, { stepMs, chunkMs }: Step): Counts {
    const nowMs = now()
    const startMs = nowMs - (nowMs % chunkMs)
    const name = `${owner} ${stepMs} ${startMs}`
    const chunk = counts.get(name) ?? { key: { owner, stepMs, startMs }, slots: [] }
    counts.set(name, chunk)
    const at = Math.floor((nowMs - startMs) / stepMs)
    chunk.slots[at] ??= noCounts()
    return chunk.slots[at]
  }

  function noteLoad({ ofOrganizations, ...load }: Load): void {
    const whole = { ...noCounts(), ...load }
    for (const step of [steps.minute, steps.hour]) addCounts(slotOf(wholeAnnex, step), whole)
    // The largest values are kept, so hosts that share a database count no job twice.
    for (const { organizationId, ...own } of ofOrganizations)
      addCounts(slotOf(organizationId, steps.hour), { ...noCounts(), ...own })
    writing.note()
  }

  async function store(): Promise<void> {
    // Sorted: two hosts that change the same rows in different orders would deadlock.
    const taken = [...counts].sort(([one], [other]) => (one < other ? -1 : 1))
    counts = new Map()
    for (let at = 0; at < taken.length; at += chunksAtOnce) {
      await transact(db, async (transaction) => {
        for (const [, { key, slots }] of taken.slice(at, at + chunksAtOnce)) {
          const before = await lockChunk(transaction, key)
          const stored = before === null ? [] : unpackSlots(before)
          await updateChunk(transaction, { ...key, slots: packSlots(merge(stored, slots)) })
        }
      })
    }
    await prune()
  }

  async function prune(): Promise<void> {
    const hour = Math.floor(now() / hourMs)
    if (hour === prunedHour) return
    prunedHour = hour
    for (const { stepMs, chunkMs, keptMs } of Object.values(steps))
      await deleteChunks(db, stepMs, now() - keptMs - chunkMs)
  }
}

function merge(stored: Slots, more: Slots): Slots {
  return Array.from({ length: Math.max(stored.length, more.length) }, (_, at) => {
    const sum = stored[at] ?? null
    const added = more[at] ?? null
    if (sum === null || added === null) return sum ?? added
    addCounts(sum, added)
    return sum
  })
}

/** The counts of an owner since `fromMs`, by points of `pointMs`, the oldest first. A point without an entry had none. */
export async function readActivity(
  db: Db,
  {
    owner,
    step,
    fromMs,
    pointMs = step.stepMs,
  }: { owner: string; step: Step; fromMs: number; pointMs?: number },
): Promise<{ atMs: number; counts: Counts }[]> {
  const points = new Map<number, Counts>()
  const chunks = await listChunks(db, { owner, stepMs: step.stepMs, fromMs: fromMs - step.chunkMs })
  for (const { startMs, slots } of chunks) {
    for (const [at, counts] of unpackSlots(slots).entries()) {
      const slotMs = startMs + at * step.stepMs
      if (counts === null || slotMs + step.stepMs <= fromMs) continue
      const atMs = slotMs - (slotMs % pointMs)
      const point = points.get(atMs)
      if (point === undefined) points.set(atMs, counts)
      else addCounts(point, counts)
    }
  }
  return [...points].map(([atMs, counts]) => ({ atMs, counts }))
}
