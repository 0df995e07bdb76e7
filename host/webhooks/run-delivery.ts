import type { SecretBox } from '../access/secret-box.ts'
import type { Clock } from '../db/database-clock.ts'
import type { Step } from '../db/group-commit.ts'
import type { Db } from '../db/open-database.ts'
import { type AttemptRow, insertAttempts } from '../db/queries/attempts.ts'
import {
  type DeliveryChange,
  type DueDelivery,
  findDueDeliveries,
  updateDeliveries,
} from '../db/queries/deliveries.ts'
import { type Health as EndpointHealth, updateHealth } from '../db/queries/endpoints.ts'
import type { Job } from '../db/queries/jobs.ts'
import { type JobHandler, type JobOutcome, type Stored, stored } from '../jobs/create-worker.ts'
import type { Health } from '../jobs/lanes.ts'
import { type NextStep, nextStep, type RetrySchedule } from '../jobs/retry-schedule.ts'
import type { Egress } from '../net/egress.ts'
import { type GivingUp, reasonToGiveUp } from './give-up-endpoint.ts'
import { type Attempt, sendAttempt } from './send-attempt.ts'
import { createSigningSecrets, type SigningSecrets } from './signing-secrets.ts'

/**
 * Does jobs of kind `delivery`: sends each once, and stores the attempt together with what becomes of the delivery.
 * The schedule counts attempts that came to an end: one that a crash cut off is made again.
 */
export function createRunDelivery(given: {
  box: SecretBox
  egress: Egress
  clock: Clock
  random: () => number
  schedule: RetrySchedule
  timeoutMs: number
  /** An endpoint that has not answered with 2xx for as long is given up, in ms. */
  giveUpAfterMs: number
  /** A step of a group commit. */
  giveUp: Step<GivingUp, unknown>
}): JobHandler {
  const { clock, egress, schedule, timeoutMs } = given
  const secrets = createSigningSecrets(given.box, clock)
  return {
    async begin(transaction, jobs) {
      const deliveries = await findOf(transaction, jobs)
      const found = await secrets.find(transaction, [...deliveries.values()])
      return jobs.map((job) => () => run(job, deliveries.get(job.id), found))
    },
    interrupt,
  }

  async function run(
    job: Job,
    delivery: DueDelivery | undefined,
    found: SigningSecrets,
  ): Promise<JobOutcome> {
    const secret = delivery && found.of(delivery)
    // What it was sent for is gone, and the delivery with it.
    if (delivery === undefined || secret === undefined) return { move: { state: 'gone' } }
    if (delivery.endpointState === 'paused') {
      return { move: { state: 'waiting', reason: `The endpoint ${delivery.endpointId} is paused.` } }
    }
    if (delivery.endpointState === 'disabled') return refuse(delivery)
    const attempt = await sendAttempt(egress, delivery, secret, { nowMs: clock.wall(), timeoutMs })
    const nowMs = clock.now()
    const step = nextStep(schedule, job.attempt, attempt, { nowMs, random: given.random })
    const outcome = toOutcome(delivery, attempt, step, nowMs)
    const reason = reasonToGiveUp(delivery, attempt, nowMs, given.giveUpAfterMs)
    if (reason === undefined) return outcome
    const { endpointId, installationId, url } = delivery
    const givingUp: GivingUp = { endpointId, installationId, url, reason }
    return { ...outcome, stores: [...outcome.stores, stored(given.giveUp, givingUp)] }
  }

  function refuse({ id, attempts, endpointReason }: DueDelivery): JobOutcome {
    const reason = `endpoint_disabled: ${endpointReason ?? ''}`
    const change: DeliveryChange = { id, state: 'failed', reason, attempts, finishedAt: clock.now() }
    return { move: { state: 'gone' }, stores: [stored(changeDeliveries, change)] }
  }

  /** Kept as attempts: whether the receiver has them, nobody knows. They do not count for the schedule. */
  async function interrupt(transaction: Db, jobs: readonly Job[]): Promise<void> {
    const deliveries = await findOf(transaction, jobs)
    const cut = jobs.flatMap((job) => {
      const delivery = deliveries.get(job.id)
      return delivery === undefined ? [] : [{ job, delivery }]
    })
    const nowMs = clock.now()
    await insertAttempts(
      transaction,
      cut.map(({ job, delivery }) => toInterrupted(delivery, job.claimedAt, nowMs)),
    )
    await updateDeliveries(
      transaction,
      cut.map(({ delivery }) => ({ ...delivery, attempts: delivery.attempts + 1 })),
    )
  }
}

async function findOf(transaction: Db, jobs: readonly Job[]): Promise<Map<string, DueDelivery>> {
  const ids = jobs.map(({ subject }) => (JSON.parse(subject) as { id: string }).id)
  const found = new Map(
    (await findDueDeliveries(transaction, ids)).map((delivery) => [delivery.id, delivery]),
  )
  return new Map(
    jobs.flatMap((job, n) => {
      const delivery = found.get(ids[n] ?? '')
      return delivery === undefined ? [] : [[job.id, delivery] as const]
    }),
  )
}

function toOutcome(
  delivery: DueDelivery,
  attempt: Attempt,
  step: NextStep,
  nowMs: number,
): JobOutcome & { stores: readonly Stored[] } {
  const number = delivery.attempts + 1
  const said = describe(attempt)
  const isOver = step.state !== 'due'
  const change: DeliveryChange = {
    id: delivery.id,
    state: isOver ? step.state : 'owed',
    reason: step.state === 'failed' ? `${step.reason}: ${said}` : null,
    attempts: number,
    finishedAt: isOver ? nowMs : null,
  }
  const stores = [
    stored(storeAttempts, toRow(delivery.id, number, attempt)),
    stored(changeDeliveries, change),
  ]
  const isDelivered = step.state === 'delivered'
  // Only when it changes: most attempts go as the one before them.
  if (isDelivered !== (delivery.failingSince === null)) {
    const health = { id: delivery.endpointId, failingSince: isDelivered ? null : nowMs }
    stores.push(stored(changeHealth, health))
  }
  return {
    move: isOver ? { state: 'gone' } : { ...step, reason: said },
    health: healthOf(attempt),
    stores,
  }
}

/** A receiver that refuses a delivery is there, and others may suit it. */
const healthOf = ({ status }: Attempt): Health =>
  status === undefined || status === 429 || status >= 500 ? 'bad' : 'good'

const storeAttempts = async (transaction: Db, rows: readonly Omit<AttemptRow, 'id'>[]): Promise<[]> => {
  await insertAttempts(transaction, rows)
  return []
}

const changeDeliveries = async (transaction: Db, changes: readonly DeliveryChange[]): Promise<[]> => {
  await updateDeliveries(transaction, changes)
  return []
}

const changeHealth = async (transaction: Db, changes: readonly EndpointHealth[]): Promise<[]> => {
  await updateHealth(transaction, changes)
  return []
}

function toRow(deliveryId: string, number: number, attempt: Attempt): Omit<AttemptRow, 'id'> {
  return {
    deliveryId,
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
    timing: null,
  }
}

function toInterrupted(
  { id, attempts }: DueDelivery,
  startedAt: number,
  nowMs: number,
): Omit<AttemptRow, 'id'> {
  return {
    deliveryId: id,
    number: attempts + 1,
    startedAt,
    durationMs: Math.max(0, nowMs - startedAt),
    outcome: 'interrupted',
    status: null,
    requestHeaders: '[]',
    responseHeaders: null,
    responseBody: null,
    errorCode: null,
    errorMessage: 'The host ended before this attempt did. Whether the receiver has it, nobody knows.',
    timing: null,
  }
}

function describe({ status, error }: Attempt): string {
  return error === undefined ? `answered ${status}` : error.message
}
