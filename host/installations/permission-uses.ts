import type { Db } from '../db/db.ts'
import { addUses, type DayUses, deleteUses, sumUses } from '../db/queries/permission-uses.ts'
import { createWriteBehind } from '../db/write-behind.ts'

/** Counts the uses of scopes, for the people who have agreed to them. */
export type PermissionUses = {
  /** Counts one use. The call does not wait for it. */
  note: (installationId: string, scope: string) => void
  flush: () => Promise<void>
  close: () => Promise<void>
}

const flushEveryMs = 60_000
const dayMs = 86_400_000
/** Today and the days before it. */
const daysKept = 30
/** Of one statement: other writes wait for its end. */
const rowsAtOnce = 500

const dayOf = (ms: number): number => Math.floor(ms / dayMs) * dayMs
const firstDay = (nowMs: number): number => dayOf(nowMs) - (daysKept - 1) * dayMs

/** Counts by installation, scope and UTC day. Stored once a minute: a killed host loses the counts of its last minute. */
export function createPermissionUses(
  db: Db,
  onDefect: (error: unknown) => void,
  now: () => number = Date.now,
): PermissionUses {
  let counts = new Map<string, DayUses>()
  const writing = createWriteBehind(store, flushEveryMs, onDefect)
  return {
    note(installationId, scope) {
      const day = dayOf(now())
      const key = `${installationId} ${scope} ${day}`
      const found = counts.get(key)
      if (found === undefined) counts.set(key, { installationId, scope, day, uses: 1 })
      else found.uses += 1
      writing.note()
    },
    flush: writing.flush,
    close: writing.close,
  }

  async function store(): Promise<void> {
    // Sorted: two hosts that change the same rows in different orders would deadlock.
    const taken = [...counts].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row)
    counts = new Map()
    for (let at = 0; at < taken.length; at += rowsAtOnce) await addUses(db, taken.slice(at, at + rowsAtOnce))
  }
}

/** The uses of a scope in the last 30 UTC days, and the last of these days. */
export type ScopeUses = { uses: number; lastDay: number }

export async function readUses(
  db: Db,
  installationId: string,
  nowMs = Date.now(),
): Promise<ReadonlyMap<string, ScopeUses>> {
  const rows = await sumUses(db, installationId, firstDay(nowMs))
  // A clock that was set back has counted on days to come.
  const today = dayOf(nowMs)
  return new Map(rows.map(({ scope, uses, lastDay }) => [scope, { uses, lastDay: Math.min(lastDay, today) }]))
}

export const pruneUses = (db: Db, nowMs = Date.now()): Promise<void> => deleteUses(db, firstDay(nowMs))
