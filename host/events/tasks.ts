import { assertFits, assertShallow } from '../assert-json.ts'
import { maxTaskBytes } from '../config/json-sizes.ts'
import { nowOf } from '../db/database-clock.ts'
import type { Db } from '../db/db.ts'
import { createId } from '../db/ids.ts'
import { countPendingJobs, insertJobs } from '../db/queries/jobs.ts'
import { transact } from '../db/sql.ts'
import { AnnexError } from '../errors.ts'
import { toSubject } from '../installations/setup-event.ts'
import type { HostCall } from '../sandbox/host-calls.ts'
import type { LevelRef } from '../sandbox/level-ref.ts'

const maxScheduleSeconds = 86_400

/** The JSON Schema of `queueTask`'s argument. `schedule` is in seconds from now. */
export const taskSchema = {
  type: 'object',
  required: ['task'],
  additionalProperties: false,
  properties: {
    task: { type: 'object' },
    schedule: { type: 'integer', minimum: 0, maximum: maxScheduleSeconds },
  },
}

type Args = { task: object; schedule?: number }

/** For each installation: a task may queue other tasks, without end. */
const maxDueTasks = 1_000

/**
 * Stores a task for a level's script. It survives restarts. A failed one is retried on the schedule of webhooks.
 *
 * @throws AnnexError `bad_request` for a task of more than 64 levels; `body_too_large` over 512 KiB; `conflict` when the
 *   installation has 1,000 queued tasks
 */
export async function queueTask(db: Db, level: LevelRef, { task, schedule = 0 }: Args): Promise<void> {
  const text = JSON.stringify(task)
  assertFits(text, maxTaskBytes, tooLarge)
  // A script passes a value of any depth.
  assertShallow(text, 'task')
  const lane = level.kind === 'integration' ? level.integration : level.installationId
  const subject = toSubject({ level, event: { type: 'task', eventId: createId('evt'), task } })
  await transact(db, async (transaction) => {
    if ((await countPendingJobs(transaction, 'task', lane)) >= maxDueTasks) {
      throw new AnnexError(
        'conflict',
        `The task was not queued: ${lane} has ${maxDueTasks} queued tasks, which is the limit. Queue it again when some have run.`,
      )
    }
    await insertJobs(transaction, [{ kind: 'task', subject, lane, dueAt: nowOf(db) + schedule * 1000 }])
  })
}

/** `context.integration.queueTask({ task, schedule })` for the level of the dispatch. */
export function createTaskCall(db: Db): HostCall<Args> {
  return {
    name: 'task',
    args: taskSchema,
    async run(args, { context }) {
      const { level, versionId } = context
      // The next task of a task, too.
      const isWhole = level.kind === 'integration' && versionId !== undefined
      await queueTask(db, isWhole ? { ...level, versionId } : level, args)
      return { value: {} }
    },
  }
}

const tooLarge = (bytes: number): string =>
  `The task was not queued: it has ${bytes} bytes as JSON; at most ${maxTaskBytes} are allowed. Queue an id or an address, and let the handler fetch the rest.`
