import { type Host, leaseMs } from './host.ts'
import type { Disk, EndedLease } from './world/disk.ts'
import type { Sent } from './world/network.ts'
import type { World } from './world/world.ts'

/** What became of the leases of jobs. A host may repeat a request whose lease has lapsed: "at least once". */
export type Leases = {
  /** Keeps the lease of a request. `undefined`: the lease ended before the send. */
  keep: (sent: Sent, lease: string | undefined) => void
  /** True for a request whose lease lapsed, or ended before the send. A lease that ends while it is valid is not lost. */
  isLost: (sent: Sent) => boolean
  /** The time after which lapsed leases keep no working host from the lane, in ms since the beginning. */
  freeSince: (lane: string, working: readonly Host[]) => number
  /** @throws Error if a lease lapsed that its host could have renewed */
  check: () => void
}

export const leaseOf = (jobId: string, leaseId: string): string => `${jobId} ${leaseId}`

export function createLeases(given: {
  world: World
  disk: Disk
  find: (hostId: string) => Host | undefined
}): Leases {
  const { world, disk } = given
  const sentBy = new Map<Sent, string | undefined>()
  /** When each lapsed lease was ended. */
  const endedAt = new Map<string, number>()
  let broken: string | undefined
  disk.watchLeases(noteEnd)
  return {
    keep: (sent, lease) => void sentBy.set(sent, lease),
    isLost,
    freeSince,
    check() {
      if (broken !== undefined) throw new Error(broken)
    },
  }

  function noteEnd({ jobId, leaseId, hostId, until }: EndedLease): void {
    const host = given.find(hostId)
    if (host === undefined) return
    const overdueMs = host.clock.now() - until
    if (overdueMs <= 0) return
    endedAt.set(leaseOf(jobId, leaseId), world.time())
    if (!isExcused(host, world.time() - overdueMs))
      broken ??= `the lease of ${jobId} lapsed, and ${hostId} could have renewed it`
  }

  /** Each third of a lease has a renewal: trouble in the last third excuses a lapse. */
  function isExcused(host: Host, lapsedAt: number): boolean {
    const isEnding = host.isGone || host.worker === undefined
    return isEnding || host.troubledUntil >= lapsedAt - leaseMs / 3
  }

  function isLost(sent: Sent): boolean {
    const lease = sentBy.get(sent)
    return lease === undefined || endedAt.has(lease)
  }

  function freeSince(lane: string, working: readonly Host[]): number {
    const lost = [...sentBy].filter(([sent]) => sent.receiver.id === lane && isLost(sent))
    // A host counts a request until its answer, also after the lease has lapsed.
    const times = working.map((host) =>
      Math.max(
        0,
        ...lost.flatMap(([{ owner, answeredAt = world.time() }]) => (owner === host ? answeredAt : [])),
      ),
    )
    return Math.max(Math.min(...times), ...lost.map(([, lease]) => endedAt.get(lease ?? '') ?? 0))
  }
}
