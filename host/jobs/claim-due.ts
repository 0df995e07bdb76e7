import type { Db } from '../db/db.ts'
import { endOfRound, type Lease, nextDueAt, readDueJobs } from '../db/queries/claims.ts'
import type { Held, JobKind } from '../db/queries/jobs.ts'
import { type Begun, claimHeld } from './claim-held.ts'
import { countLanes, createDueBuffer } from './due-buffer.ts'
import type { JobHandler } from './job-handler.ts'
import { countTaken } from './slots/room.ts'
import type { Slots } from './slots/take-slot.ts'

export type DueJobs = {
  /**
   * Claims up to `limit` due jobs, owner after owner and lane after lane, and of none more than it has room for. Beyond its even share of the `atOnce`
   * that may run a lane gets what nobody else has a use for: one that does not get on would have all it may have begin, and
   * each takes a turn for a while.
   */
  claim: (db: Db, given: { limit: number; atOnce: number; lease: Lease }) => Promise<Begun[]>
  /** There may be due jobs that were not read yet: in one lane, or in any; `held` is one of them. */
  lookAgain: (lane?: string, held?: Held) => void
  /** Others may have something due that nobody has told of: those that it holds nothing of. */
  poll: () => void
  /**
   * Reads all anew: what was read may be of a transaction that did not come about, in which the job before it in its order was
   * done.
   */
  startOver: () => void
  /** A lane has room again: it may have had none when it was read. */
  hasRoom: (lane: string) => void
  /** When the next job comes due by itself, in Unix ms: what is due after it was stored, as a retry is. */
  nextAt: () => number | undefined
  /** Whether the lanes have been read in part: there may be due jobs in the others. */
  isMidRound: () => boolean
  /** Whether other hosts were quicker at some of what the last claim was for: there may be more beside it. */
  isContested: () => boolean
}

/** Read ahead at once: reading many costs little more than reading one. */
const readAhead = 512
const aheadPerLane = 64
/** Of all that were read. An owner that holds more of it than it leaves to the others is passed over. */
const mostRead = 1_024
/** Claims that are filled by what is held, before it is read what else there is. */
const patience = 4
/** No more than as many are kept that were stored just now: the others are read when it is their turn. */
const mostHeld = { jobs: 16_384, length: 16 * 1024 * 1024 }

/** The due jobs of a kind, read ahead in groups and claimed by their ids. */
export function createDueJobs(
  kind: JobKind,
  { lanes, owners }: Pick<Slots, 'lanes' | 'owners'>,
  handler: JobHandler,
): DueJobs {
  const { load, begin, lengthOf } = handler
  const ownerOf = ({ job, loaded }: Held) => handler.ownerOf?.(loaded) ?? job.lane
  let buffer = createDueBuffer(ownerOf)
  /** Lanes that it holds jobs of and that have, or may have, more in the table: read again when what it holds is used up. */
  const partial = new Set<string>()
  /** Lanes that had no room when they were to be read. */
  const unread = new Set<string>()
  /** Owners that were passed over, as it holds much of them. */
  const passedOver = new Set<string>()
  /** Claims that were filled since there was more to read. */
  let filled = 0
  /** After which lane the next reading begins: the lanes take turns. */
  let after = ''
  /** Whether no other lane has due jobs, but those of whom it has passed over. */
  let isComplete = false
  let nextAt: number | undefined
  let asked = 0
  /** When the last claim began: what was asked since may mean what came due after that. */
  let askedBefore = 0
  let contested = false
  /** Of the last claim. */
  let claimedAt = 0
  /** Whether there is nobody since then whom what is held can be taken from. */
  let isTight = false
  return {
    async claim(db, { limit, atOnce, lease }) {
      const { nowMs } = lease
      claimedAt = nowMs
      isTight = false
      contested = false
      const claimed: Begun[] = []
      const shareOf = () => lanes.roomsAt(nowMs, Math.ceil(atOnce / Math.max(1, buffer.lanes().length)))
      let roomIn = countTaken(owners)
      const claimSome = async (roomOf: (lane: string) => number) => {
        const held = buffer.take(limit - claimed.length, roomIn(roomOf))
        if (held.length === 0) return
        const ofHeld = await claimHeld(db, held, lease, { ownerOf, begin })
        contested = ofHeld.length < held.length
        claimed.push(...ofHeld)
      }
      try {
        if (nextAt !== undefined && nextAt <= nowMs) lookAgain()
        askedBefore = asked
        // Whoever is not held waits for a turn like the others, and not until what is held of them is used up.
        if ((!isComplete || filled >= patience) && buffer.size().read < mostRead) await read(db, nowMs)
        await claimSome(shareOf())
        if (claimed.length < limit && hasMore()) {
          // Only now: what was taken and not claimed yet would be read again.
          await read(db, nowMs)
          await claimSome(shareOf())
        }
        if (claimed.length < limit && !contested) await claimSome(lanes.roomsAt(nowMs))
        if (contested && claimed.length === 0) {
          // Others have been at all of it, and what is left of it is as old.
          startOver()
          roomIn = countTaken(owners)
          await read(db, nowMs)
          await claimSome(shareOf())
        }
        filled = hasMore() ? filled + 1 : 0
        return claimed
      } catch (error) {
        startOver()
        throw error
      }
    },
    lookAgain,
    poll() {
      isComplete = false
    },
    startOver,
    hasRoom(lane) {
      if (unread.has(lane)) lookAgain(lane)
    },
    nextAt: () => nextAt,
    isMidRound: () => after !== '',
    isContested: () => contested,
  }

  function lookAgain(lane?: string, held?: Held): void {
    if (held !== undefined && isNext(held)) {
      buffer.put([held])
      return
    }
    asked += 1
    if (lane !== undefined && buffer.has(lane)) {
      partial.add(lane)
      return
    }
    isComplete = false
    if (lane === undefined) for (const held of buffer.lanes()) partial.add(held)
  }

  function startOver(): void {
    buffer = createDueBuffer(ownerOf)
    partial.clear()
    lookAgain()
  }

  /**
   * Whether everything that is due in its lane before it is held, too: then it need not be read. The claim of the same commit
   * may have read it; who claims it twice gets it once.
   */
  function isNext(held: Held): boolean {
    const { lane, ordered } = held.job
    if (!hasRoomFor(held.length)) makeRoom()
    if (ordered || !hasRoomFor(held.length) || partial.has(lane) || unread.has(lane)) return false
    return buffer.has(lane) || (isComplete && !passedOver.has(ownerOf(held)))
  }

  function hasRoomFor(length: number): boolean {
    const held = buffer.size()
    return held.jobs < mostHeld.jobs && held.length + length <= mostHeld.length
  }

  /** What piles up for a receiver that never answers must not take the place of what could be sent. */
  function makeRoom(): void {
    if (isTight) return
    isTight = true
    const roomOf = lanes.roomsAt(claimedAt)
    for (const lane of buffer.lanes()) {
      if (roomOf(lane) === 0 && buffer.cut(lane, aheadPerLane)) partial.add(lane)
    }
  }

  function hasMore(): boolean {
    if (!isComplete || [...partial].some((lane) => !buffer.has(lane))) return true
    return [...passedOver].some((owner) => buffer.readOf(owner) < readAhead / 2)
  }

  async function read(db: Db, nowMs: number): Promise<void> {
    const holding = buffer.lanes()
    const full = lanes.full(nowMs)
    // Before it reads: one may have room again by the end of it.
    unread.clear()
    for (const lane of full) if (!buffer.has(lane)) unread.add(lane)
    const free = mostRead - buffer.size().read
    const crowded = buffer.ownersWith(Math.max(1, free))
    if (after === '') passedOver.clear()
    for (const owner of crowded) passedOver.add(owner)
    filled = 0
    const limit = Math.max(aheadPerLane, Math.min(readAhead, free))
    const without = [...full, ...holding]
    const given = { after, without, withoutOwners: crowded, perLane: aheadPerLane, limit, nowMs }
    const jobs = await readDueJobs(db, kind, given)
    const loaded = jobs.length > 0 ? await load?.(db, jobs) : undefined
    // They are few, without what is long of them, and are read whether there is room for them or not.
    buffer.put(
      jobs.map(({ subjectLength, ...job }, n) => {
        const one = loaded?.[n]
        const length = subjectLength + (lengthOf?.(one) ?? 0)
        return { job, loaded: one, length, isRead: true }
      }),
    )
    const isCut = jobs.length >= limit
    const lastLane = jobs.at(-1)?.lane
    const end = isCut ? lastLane : await endOfRound(db, kind, after)
    after = end ?? ''
    nextAt = await nextDueAt(db, kind, nowMs)
    const counts = countLanes(jobs)
    for (const lane of partial) if (!holding.includes(lane)) partial.delete(lane)
    for (const [lane, count] of counts)
      if (count >= aheadPerLane || (isCut && lane === lastLane)) partial.add(lane)
    if (asked !== askedBefore) lookAgain()
    else isComplete = end === undefined
  }
}
