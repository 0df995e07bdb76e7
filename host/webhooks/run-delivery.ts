import type { SecretBox } from '../access/secret-box.ts'
import type { Db } from '../db/open-database.ts'
import { type Delivery, findDelivery, insertAttempt, updateDelivery } from '../db/queries/deliveries.ts'
import { findTarget } from '../db/queries/installation-targets.ts'
import { findInstallation } from '../db/queries/installations.ts'
import type { JobHandler } from '../jobs/create-worker.ts'
import { defaultSchedule, nextStep } from '../jobs/retry-schedule.ts'
import type { Egress } from '../net/egress.ts'
import { type Attempt, sendAttempt } from './send-attempt.ts'

/**
 * Does a job of kind `delivery`: sends it once, and stores the attempt together with what becomes of the
 * delivery. The schedule counts attempts that came to an end: one that a crash cut off is made again.
 */
export function createRunDelivery(given: {
  db: Db
  box: SecretBox
  egress: Egress
  timeoutMs: number
}): JobHandler {
  const { db, box, egress, timeoutMs } = given
  return async (job) => {
    const { id } = JSON.parse(job.subject) as { id: string }
    const delivery = await findDelivery(db, id)
    const secret = delivery && (await findSecret(db, box, delivery))
    if (delivery === undefined || secret === undefined) {
      return {
        next: { state: 'failed', reason: `The delivery ${id}, or what it was sent for, is no longer there.` },
      }
    }
    const number = delivery.attempts + 1
    const attempt = await sendAttempt(egress, delivery, secret, { nowMs: Date.now(), timeoutMs })
    const step = nextStep(defaultSchedule, number, attempt, { nowMs: Date.now(), random: Math.random })
    const settle = (transaction: Db) => store(transaction, delivery, number, attempt, step)
    if (step.state === 'delivered') return { next: { state: 'done' }, settle }
    return { next: { ...step, reason: describe(attempt) }, settle }
  }
}

/** The secret of the level that the delivery belongs to: read at each attempt, so that a new one signs at once. */
async function findSecret(db: Db, box: SecretBox, delivery: Delivery): Promise<string | undefined> {
  const { installationId, signedBy } = delivery
  const [kind, targetId] = signedBy.split(':')
  const isTarget = (kind === 'site' || kind === 'space') && targetId !== undefined
  const signer = isTarget
    ? await findTarget(db, { installationId, kind, targetId })
    : await findInstallation(db, installationId)
  return signer && box.open(signer.signingSecret)
}

async function store(
  transaction: Db,
  delivery: Delivery,
  number: number,
  attempt: Attempt,
  step: ReturnType<typeof nextStep>,
): Promise<void> {
  await insertAttempt(transaction, {
    deliveryId: delivery.id,
    number,
    startedAt: attempt.startedAtMs,
    durationMs: attempt.durationMs,
    outcome: attempt.outcome,
    status: attempt.status ?? null,
    requestHeaders: JSON.stringify(attempt.requestHeaders),
    responseHeaders: attempt.responseHeaders === undefined ? null : JSON.stringify(attempt.responseHeaders),
    responseBody: attempt.responseBody ?? null,
    errorCode: attempt.error?.code ?? null,
    errorMessage: attempt.error?.message ?? null,
  })
  await updateDelivery(transaction, delivery.id, {
    attempts: number,
    ...(step.state === 'due'
      ? {}
      : {
          state: step.state,
          reason: step.state === 'failed' ? `${step.reason}: ${describe(attempt)}` : null,
          finishedAt: Date.now(),
        }),
  })
}

function describe({ status, error }: Attempt): string {
  return error === undefined ? `answered ${status}` : error.message
}
