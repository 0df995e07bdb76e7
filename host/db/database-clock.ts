import type { Db, Dialect } from './db.ts'

/** The clock of due times, with its timers. */
export type Clock = {
  /** Unix ms. Never goes back and never jumps: an hour by this clock takes about an hour. */
  now: () => number
  /** This machine's clock in Unix ms, for times that other parties compare with their clocks. */
  wall: () => number
  /**
   * Calls `run` once after `ms`, by a monotonic timer, and after at most `longestWaitMs`. The caller then compares its
   * due time with `now` again.
   *
   * @returns cancels the timer
   */
  after: (ms: number, run: () => void) => () => void
}

/** A clock that is slowly adjusted to a better one. */
export type SteadyClock = Clock & {
  /** @param truthMs the time of the better clock, in Unix ms */
  adjust: (truthMs: number) => void
}

const longestWaitMs = 60_000
/** The largest adjustment, as a part of the passed time. It exceeds the drift of any quartz. */
const slew = 0.001
const adjustEveryMs = 1_000
const serverEveryMs = 10_000

/**
 * Creates the clock of due times. On PostgreSQL all hosts follow the database's clock. On SQLite the host follows its
 * machine's clock. A monotonic timer runs between two readings: setting either clock by an hour neither hurries nor
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

/** Reads the server's clock every ten seconds. Failed readings are skipped, also those after the database was closed. */
async function createServerClock(db: Db): Promise<SteadyClock> {
  const clock = createSteadyClock(await readClosely(db))
  setInterval(() => readClosely(db).then(clock.adjust, () => {}), serverEveryMs).unref()
  return clock
}

/** The database reads its clock about half way between query and answer. The shortest of four round trips is used. */
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

/** PostgreSQL's clock in Unix ms. `clock_timestamp` goes on within a transaction, `now` does not. */
async function readClock(db: Db): Promise<number> {
  const { rows } = await db.raw(`select (extract(epoch from clock_timestamp()) * 1000)::bigint as now`)
  return rows[0].now
}

/** @param monotonic a monotonic clock in ms */
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

/** This machine's clock, without adjustment. */
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
