import type { Logger } from 'pino'
import type { Settings } from '../../config/load-settings.ts'
import type { Clock } from '../../db/database-clock.ts'
import type { GroupCommit } from '../../db/group-commit.ts'
import type { Database } from '../../db/open-database.ts'
import type { Job } from '../../db/queries/jobs.ts'
import { defaultSchedule, type RetrySchedule } from '../../queue/retry-schedule.ts'

/** What every worker needs. */
export type WorkerParts = {
  commits: GroupCommit
  /** What claims carry. */
  hostId: string
  database: Database
  clock: Clock
  settings: Settings
  logger: Logger
}

export const toSchedule = ({ DELIVERY_RETRY_SECONDS: seconds }: Settings): RetrySchedule => ({
  ...defaultSchedule,
  delaysMs: seconds.map((one) => one * 1_000),
})

export const toShared = ({ hostId, database, commits, clock, logger }: WorkerParts) => ({
  hostId,
  database,
  commits,
  clock,
  random: Math.random,
  onDefect: (error: unknown, job?: Job) => logger.error({ err: error, job: job?.id }, 'defect'),
})
