import type { Clock } from '../db/database-clock.ts'
import type { JobKind } from '../db/db.ts'
import type { Database } from '../db/open-database.ts'
import { type EndingClaims, endClaims, renewLeases } from '../db/queries/claims.ts'
import { transact } from '../db/sql.ts'
import type { JobHandler } from './job-handler.ts'

/** The time that a claim holds. Leases of jobs in flight are renewed three times as often, so jobs may run longer. */
export const defaultLeaseMs = 30_000

export type Leases = {
  /** Ends the claims of an earlier run of this host. Then renews leases, and ends lapsed ones, until `close`. */
  begin: () => Promise<void>
  /** Gives back all claims of this host. */
  close: () => Promise<void>
}

/**
 * Renews the claims of jobs in flight, and makes jobs of ended hosts due again.
 *
 * One process owns a SQLite file: its start ends all claims. Hosts that share a PostgreSQL end their own claims at a start;
 * the claims of a lost host lapse. A claim whose commit got no answer is not renewed, so it lapses too.
 *
 * @param given.inFlight the lease ids of jobs in flight
 * @param given.onDue called when jobs have become due
 */
export function createLeases(given: {
  database: Pick<Database, 'db' | 'dialect'>
  clock: Clock
  hostId: string
  leaseMs: number
  inFlight: () => readonly string[]
  handlers: Partial<Record<JobKind, JobHandler>>
  onDue: () => void
  onDefect: (error: unknown) => void
}): Leases {
  const { clock, handlers, hostId, leaseMs } = given
  const { db, dialect } = given.database
  const kinds = Object.keys(handlers) as JobKind[]
  let isClosed = false
  let cancelTimer = () => {}
  let renewing = Promise.resolve()
  return {
    async begin() {
      await end(dialect === 'sqlite' ? 'all' : { hostId })
      schedule()
    },
    async close() {
      isClosed = true
      cancelTimer()
      await renewing
      await end({ hostId })
    },
  }

  function schedule(): void {
    cancelTimer = clock.after(leaseMs / 3, () => {
      renewing = renew()
        .catch(given.onDefect)
        .then(() => {
          if (!isClosed) schedule()
        })
    })
  }

  async function renew(): Promise<void> {
    const leaseIds = given.inFlight()
    if (leaseIds.length > 0) await renewLeases(db, leaseIds, clock.now() + leaseMs)
    if ((await end({ lapsedAtMs: clock.now() })) > 0) given.onDue()
  }

  async function end(which: EndingClaims): Promise<number> {
    return transact(db, async (transaction) => {
      const jobs = await endClaims(transaction, kinds, which)
      for (const kind of kinds) {
        const ofKind = jobs.filter((job) => job.kind === kind)
        if (ofKind.length > 0) await handlers[kind]?.interrupt?.(transaction, ofKind)
      }
      return jobs.length
    })
  }
}
