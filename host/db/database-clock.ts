import type { Db, Dialect } from './open-database.ts'
import { readClock } from './queries/hosts.ts'

/** What due times are compared with, and what waits for them. */
export type Clock = {
  /** Unix ms. Never goes back, and never jumps: an hour of it takes about an hour. */
  now: () => number
  /**
   * Runs something once, `ms` from now by a monotonic timer, after at most `longestWaitMs`: whoever waits for a due
   * time looks at `now` again.
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
/** How fast the clock moves towards the better one: by this part of the time that has passed. */
const slew = 0.1
const adjustEveryMs = 1_000

/**
 * The clock of due times: on PostgreSQL the database's, so that all hosts have the same; else this machine's. Between
 * two readings, and when what is read has jumped, a monotonic timer goes on. So an hour that somebody puts a clock
 * forward or back neither hurries nor holds up what is due: it is caught up with by a tenth of the time that passes.
 */
export async function createClock({ db, dialect }: { db: Db; dialect: Dialect }): Promise<SteadyClock> {
  if (dialect === 'postgres') return createSteadyClock(await readClock(db))
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

/** @param monotonic ms that only ever grow, by one each ms */
export function createSteadyClock(
  startMs: number,
  monotonic: () => number = () => performance.now(),
): SteadyClock {
  let base = { unixMs: startMs, monotonicMs: monotonic() }
  let lastMs = startMs
  const read = (monotonicMs: number) => base.unixMs + (monotonicMs - base.monotonicMs)
  return {
    now() {
      lastMs = Math.max(lastMs, Math.floor(read(monotonic())))
      return lastMs
    },
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
  after(ms, run) {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
}
