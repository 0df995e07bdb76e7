import { nowOf } from '../db/database-clock.ts'
import type { Db } from '../db/db.ts'
import { createId } from '../db/ids.ts'
import type {
  Configuration,
  Installation,
  InstallationStatus,
  InstallationTarget,
} from '../db/queries/installations.ts'
import { insertJobs } from '../db/queries/jobs.ts'
import type { Level } from '../sandbox/level.ts'

/** The subject of a job of kind `event`: an event, and the level whose script handles it. */
export type EventJob = { level: Level; event: { type: string; eventId: string; [field: string]: unknown } }

/**
 * Queues a level's setup event (spec 6.1): after the installation and after each edit.
 *
 * @param given.previous the level before an edit
 */
export async function queueSetup(
  transaction: Db,
  given: {
    installation: Installation
    target?: InstallationTarget
    status: InstallationStatus
    previous?: { status: string; configuration: Configuration }
  },
): Promise<void> {
  const { installation, target, status, previous } = given
  const { integration, id: installationId } = installation
  const level: Level =
    target === undefined
      ? { kind: 'installation', integration, installationId }
      : { kind: target.kind, integration, installationId, targetId: target.targetId }
  const event = {
    eventId: createId('evt'),
    type: target === undefined ? 'installation_setup' : `${target.kind}_installation_setup`,
    installationId,
    ...(target && { [`${target.kind}Id`]: target.targetId }),
    status,
    ...(previous && { previous }),
  }
  const subject: EventJob = { level, event }
  await insertJobs(transaction, [{ kind: 'event', subject, lane: installationId, dueAt: nowOf(transaction) }])
}
