import type { Settings } from '../config/load-settings.ts'
import type { Db } from '../db/db.ts'
import type { GroupCommit } from '../db/group-commit.ts'
import type { Egress } from '../egress/egress.ts'
import { createTaskCall } from '../events/tasks.ts'
import { createBacklogQuota } from '../queue/backlog.ts'
import type { Wake } from '../queue/worker.ts'
import { createFetchCall } from '../sandbox/fetch-call.ts'
import { createHostCalls, type RunHostCall } from '../sandbox/host-calls.ts'
import { createDeliveryCall } from '../webhooks/delivery-call.ts'

/**
 * The table of what a script can ask of the host.
 *
 * @param given.egress what scripts' requests leave by
 * @param given.publicUrl where Annex itself is reached: a script may call it without declaring that
 */
export function createCalls(given: {
  settings: Settings
  db: Db
  reader: Db
  commits: GroupCommit
  egress: Egress
  publicUrl: () => string
  wake: Wake
  onDefect: (error: unknown) => void
}): RunHostCall {
  const { settings, db, commits, egress, publicUrl, wake, onDefect } = given
  const backlog = createBacklogQuota(given.reader, {
    jobs: settings.BACKLOG_DELIVERIES,
    bytes: settings.BACKLOG_MB * 1024 * 1024,
  })
  const limits = {
    timeoutMs: settings.SANDBOX_FETCH_MS,
    maxBytes: settings.SANDBOX_FETCH_BYTES,
    inFlight: settings.SANDBOX_FETCHES_AT_ONCE,
  }
  const declared = {
    isRequired: settings.EGRESS_REQUIRE_DECLARED,
    isOwn: (origin: string) => egress.isOwn(origin) || origin === URL.parse(publicUrl())?.origin,
  }
  return createHostCalls(
    [
      createFetchCall(egress, limits, declared),
      createDeliveryCall(commits, wake, backlog),
      createTaskCall(db, wake),
    ],
    onDefect,
  )
}
