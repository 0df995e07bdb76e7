import { maxTaskBytes } from '../config/event-sizes.ts'
import { nowOf } from '../db/database-clock.ts'
import type { Db } from '../db/db.ts'
import { createId } from '../db/ids.ts'
import { countOwedJobs, insertJobs } from '../db/queries/jobs.ts'
import { lockStaying } from '../db/queries/moved/hold.ts'
import { AnnexError } from '../errors/annex-error.ts'
import { assertShallow } from '../errors/json-depth.ts'
import { assertFits } from '../errors/text-size.ts'
import type { EventJob } from '../installations/setup-event.ts'
import type { Wake } from '../queue/worker.ts'
import type { HostCall } from '../sandbox/host-calls.ts'
import type { Level } from '../sandbox/level.ts'

const maxScheduleSeconds = 86_400

/** JSON Schema of what a task is queued with; `schedule` is in seconds from now. */
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

/** A task may queue further tasks; this is where that ends. */
const maxDueTasks = 1_000

/**
 * Stores that a level's script is owed a call of its `task` handler. It survives restarts, and is tried again
 * on the schedule of webhooks when the handler fails.
 *
 * @throws AnnexError `bad_request` for a task of more than 64 levels; `body_too_large` over 512 KiB; `conflict` when as many tasks
 *   of the installation as may be are still to be run
 */
export async function oweTask(db: Db, level: Level, { task, schedule = 0 }: Args): Promise<void> {
  const text = JSON.stringify(task)
  assertFits(text, maxTaskBytes, tooLarge)
  // From a script it comes as a value, of any depth.
  assertShallow(text, 'task')
  const lane = level.kind === 'integration' ? level.integration : level.installationId
  const subject: EventJob = { level, event: { type: 'task', eventId: createId('evt'), task } }
  await db.transaction(async (transaction) => {
    if ((await countOwedJobs(transaction, 'task', lane)) >= maxDueTasks) {
      throw new AnnexError(
        'conflict',
        `${lane} has ${maxDueTasks} tasks that are still to be run; no more can be queued.`,
      )
    }
    if (level.kind !== 'integration' && !(await lockStaying(transaction, [lane])).has(lane)) {
      throw new AnnexError('installation_paused', `The installation ${lane} is being moved.`)
    }
    await insertJobs(transaction, [{ kind: 'task', subject, lane, dueAt: nowOf(db) + schedule * 1000 }])
  })
}

/** `context.integration.queueTask({ task, schedule })`, for the level that the dispatch is for. */
export function createTaskCall(db: Db, wake: Wake): HostCall<Args> {
  return {
    name: 'task',
    args: taskSchema,
    async run(args, { context }) {
      await oweTask(db, context.level, args)
      wake()
      return { value: {} }
    },
  }
}

const tooLarge = (bytes: number): string =>
  `The task was not queued: it has ${bytes} bytes as JSON, and at most ${maxTaskBytes} are kept. Queue an id or an address, and let the handler ask for the rest.`
