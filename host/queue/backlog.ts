import { cacheReads } from '../cache.ts'
import type { Db } from '../db/db.ts'
import { type Backlog, readBacklog } from '../db/queries/jobs.ts'
import { AnnexError } from '../errors.ts'

/** Limits of an installation: pending deliveries, and their text in bytes. */
export type BacklogLimits = { jobs: number; bytes: number }

export type BacklogQuota = {
  /** Counts a delivery of the installation. @throws AnnexError `backlog_full` over a limit */
  take: (installationId: string, bytes: number) => Promise<void>
}

/**
 * Limits the number and size of pending deliveries of an installation, as a script could fill the disk. The table is counted
 * at most once a second for each installation; deliveries since then are added.
 *
 * @param db a connection other than the writer, for the counts
 */
export function createBacklogQuota(db: Db, limits: BacklogLimits): BacklogQuota {
  const backlogs = cacheReads({
    keyOf: String,
    read: (installationId: string) => readBacklog(db, installationId),
  })
  return {
    async take(installationId, bytes) {
      const backlog = await backlogs.get(installationId)
      if (backlog.jobs >= limits.jobs || backlog.bytes + bytes > limits.bytes)
        throw full(installationId, backlog)
      backlog.jobs += 1
      backlog.bytes += bytes
    },
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
