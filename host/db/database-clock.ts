import type { Db, Dialect } from './db.ts'

/** What due times are compared with, and what waits for them. */
export type Clock = {
  /** Unix ms. Never goes back, and never jumps: an hour of it takes about an hour. */
  now: () => number
  /** What this machine takes for the time, in Unix ms: for what others compare with their own clocks. */
  wall: () => number
  /**
   * Runs something once, `ms` from now by a monotonic timer, and after at most `longestWaitMs`. The caller compares its
   * due time with `now` again.
   *
   * @returns takes it back
   */
  after: (ms: number, run: () => void) => () => void
}

/** A clock that is put right, little by little, by a better one. */
export type SteadyClock = Clock & {
  /** @param truthMs what the better clock has now, in Unix ms */
  adjust: (truthMs: number) => void
}

const longestWaitMs = 60_000
/** How fast the clock moves towards the better one, by the time that has passed: more than any quartz is wrong. */
const slew = 0.001
const adjustEveryMs = 1_000
const serverEveryMs = 10_000

/**
 * The clock of due times: on PostgreSQL that of the database, so that all hosts have the same; on SQLite that of this
 * machine. A monotonic timer runs between two readings. A clock that is put forward or back by an hour neither hurries nor
 * delays due times before the next start.
 */
export async function createClock({ db, dialect }: { db: Db; dialect: Dialect }): Promise<SteadyClock> {
  if (dialect === 'postgres') return createServerClock(db)
  const clock = createSteadyClock(Date.now())
  let adjustedAt = performance.now()
  return {
    ...clock,
    now() {
      const monotonicMs = performance.now()
      if (monotonicMs - adjustedAt >= adjustEveryMs) {
        adjustedAt = monotonicMs
        clock.adjust(Date.now())
      }
      return clock.now()
    },
  }
}

/** Reads the server's clock again and again. A reading that fails, also of a database that was closed, is left out. */
async function createServerClock(db: Db): Promise<SteadyClock> {
  const clock = createSteadyClock(await readClosely(db))
  setInterval(() => readClosely(db).then(clock.adjust, () => {}), serverEveryMs).unref()
  return clock
}

/** The database looked at its clock about half way between question and answer: the shortest way tells it best. */
async function readClosely(db: Db): Promise<number> {
  let best = { wayMs: Number.POSITIVE_INFINITY, startedAtUnixMs: 0 }
  const startedAt = performance.now()
  for (let n = 0; n < 4; n++) {
    const askedAt = performance.now()
    const readMs = await readClock(db)
    const wayMs = performance.now() - askedAt
    if (wayMs < best.wayMs) best = { wayMs, startedAtUnixMs: readMs - wayMs / 2 - (askedAt - startedAt) }
  }
  return best.startedAtUnixMs + (performance.now() - startedAt)
}

/** The clock of a PostgreSQL in Unix ms, as it is now and not as it was when the transaction began. */
async function readClock(db: Db): Promise<number> {
  const { rows } = await db.raw(`select (extract(epoch from clock_timestamp()) * 1000)::bigint as now`)
  return rows[0].now
}

/** @param monotonic ms that only ever grow, by one each ms */
export function createSteadyClock(
  startMs: number,
  monotonic: () => number = () => performance.now(),
): SteadyClock {
  let base = { unixMs: startMs, monotonicMs: monotonic() }
  let lastMs = Math.floor(startMs)
  const read = (monotonicMs: number) => base.unixMs + (monotonicMs - base.monotonicMs)
  return {
    now() {
      lastMs = Math.max(lastMs, Math.floor(read(monotonic())))
      return lastMs
    },
    wall: Date.now,
    after(ms, run) {
      const timer = setTimeout(run, Math.min(Math.max(0, ms), longestWaitMs))
      return () => clearTimeout(timer)
    },
    adjust(truthMs) {
      const monotonicMs = monotonic()
      const reached = read(monotonicMs)
      const most = (monotonicMs - base.monotonicMs) * slew
      const step = Math.min(Math.max(truthMs - reached, -most), most)
      base = { unixMs: reached + step, monotonicMs }
    },
  }
}

/** This machine's clock as it is. */
export const systemClock: Clock = {
  now: Date.now,
  wall: Date.now,
  after(ms, run) {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
}

/** The time by the clock of due times, for a query that stores one; in a transaction, too. */
export const nowOf = (db: Db): number => clockOf(db).now()

const clockOf = (db: Db): Clock => db.userParams.clock ?? systemClock
