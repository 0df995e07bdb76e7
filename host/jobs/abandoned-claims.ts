import type { Clock } from '../db/database-clock.ts'
import type { Database } from '../db/open-database.ts'
import { type Abandoned, endClaims } from '../db/queries/claims.ts'
import type { JobKind } from '../db/queries/jobs.ts'
import type { JobHandler } from './job-handler.ts'

export type AbandonedClaims = {
  /** Ends what was left before this start, and then what others leave, until `close`. */
  begin: () => Promise<void>
  /** Makes what was claimed due again. */
  end: (which: Abandoned) => Promise<void>
  close: () => Promise<void>
}

const lookEveryMs = 30_000

/**
 * Ends claims that nobody will do anything about. Where several hosts share a database, each looks now and then for leases that have
 * run out: a host that the others had struck off, as it was paused or could not be reached, may have claimed something before it
 * was on the list again, and what somebody else was changing when it was struck off was passed over. Nobody misses it for these.
 * Of its own claims it ends those that it knows nothing of: the server may have done one after the connection was lost and the lease
 * given back.
 *
 * @param given.onEnded called when that has made something due
 */
export function createAbandonedClaims(given: {
  database: Pick<Database, 'db' | 'dialect'>
  clock: Clock
  hostId: string
  /** Of the claims that something is done about. */
  leases: () => readonly string[]
  handlers: Partial<Record<JobKind, JobHandler>>
  onEnded: () => void
  onDefect: (error: unknown) => void
}): AbandonedClaims {
  const { clock, handlers, hostId } = given
  const { db, dialect } = given.database
  const kinds = Object.keys(handlers) as JobKind[]
  let closed = false
  let cancelTimer = () => {}
  let looking = Promise.resolve()
  return {
    async begin() {
      await end(dialect === 'sqlite' ? 'all' : { leaseUntilBefore: clock.now(), notOf: hostId })
      if (dialect === 'postgres') schedule()
    },
    end: async (which) => void (await end(which)),
    async close() {
      closed = true
      cancelTimer()
      await looking
    },
  }

  async function end(which: Abandoned): Promise<number> {
    return db.transaction(async (transaction) => {
      const jobs = await endClaims(transaction, kinds, which)
      for (const kind of kinds) {
        const ofKind = jobs.filter((job) => job.kind === kind)
        if (ofKind.length > 0) await handlers[kind]?.interrupt?.(transaction, ofKind)
      }
      return jobs.length
    })
  }

  function schedule(): void {
    cancelTimer = clock.after(lookEveryMs, () => {
      looking = look()
        .catch(given.onDefect)
        .then(() => {
          if (!closed) schedule()
        })
    })
  }

  async function look(): Promise<void> {
    const leaseUntilBefore = clock.now()
    await end({ leaseUntilBefore, of: hostId, without: given.leases() })
    if ((await end({ leaseUntilBefore, notOf: hostId })) > 0) given.onEnded()
  }
}
