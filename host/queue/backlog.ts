import type { Db } from '../db/db.ts'
import { type Backlog, readBacklog } from '../db/queries/jobs.ts'
import { AnnexError } from '../errors.ts'

/** Limits of an installation: pending deliveries, and their text in bytes. */
export type BacklogLimits = { jobs: number; bytes: number }

export type BacklogQuota = {
  /** Counts a delivery of the installation. @throws AnnexError `backlog_full` over a limit */
  take: (installationId: string, bytes: number) => Promise<void>
}

const readEveryMs = 1_000
const mostRemembered = 1_000

/**
 * Limits the number and size of pending deliveries of an installation, as a script could fill the disk. The table is counted
 * at most once a second for each installation; deliveries since then are added.
 *
 * @param db a connection other than the writer, for the counts
 */
export function createBacklogQuota(db: Db, limits: BacklogLimits): BacklogQuota {
  const known = new Map<string, Backlog & { readAtMs: number }>()
  return {
    async take(installationId, bytes) {
      const backlog = await find(installationId)
      if (backlog.jobs >= limits.jobs || backlog.bytes + bytes > limits.bytes)
        throw full(installationId, backlog)
      backlog.jobs += 1
      backlog.bytes += bytes
    },
  }

  async function find(installationId: string): Promise<Backlog> {
    const found = known.get(installationId)
    if (found !== undefined && performance.now() - found.readAtMs < readEveryMs) return found
    const read = { ...(await readBacklog(db, installationId)), readAtMs: performance.now() }
    known.delete(installationId)
    known.set(installationId, read)
    const [oldest] = known.keys()
    if (known.size > mostRemembered && oldest !== undefined) known.delete(oldest)
    return read
  }

  function full(installationId: string, { jobs, bytes }: Backlog): AnnexError {
    const has = `${jobs} pending deliveries with ${Math.round(bytes / 1024 / 1024)} MB`
    const most = `${limits.jobs} with ${Math.round(limits.bytes / 1024 / 1024)} MB`
    return new AnnexError(
      'backlog_full',
      `The delivery was not stored: the installation ${installationId} has ${has}, and may have ${most}. Queue it again when its receivers have taken some. The operator's settings are BACKLOG_DELIVERIES and BACKLOG_MB.`,
    )
  }
}
