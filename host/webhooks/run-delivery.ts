import type { Clock } from '../db/database-clock.ts'
import type { Db } from '../db/db.ts'
import type { Step } from '../db/group-commit.ts'
import { withPrefix } from '../db/ids.ts'
import { type AttemptRow, insertAttempts } from '../db/queries/attempts.ts'
import {
  type Delivery,
  type DeliveryChange,
  type DeliveryState,
  type DeliveryToSend,
  findDeliveries,
  loadDeliveries,
  type Refusal,
  refuseDeliveries,
  updateDeliveries,
} from '../db/queries/deliveries.ts'
import type { Job } from '../db/queries/jobs.ts'
import { findReceivers, findUnpaused, type OwnedReceiver } from '../db/queries/receivers.ts'
import { releaseJobs } from '../db/queries/release-waiting.ts'
import type { Health } from '../queue/fairness.ts'
import { type JobHandler, type JobOutcome, type Stored, stored } from '../queue/job-handler.ts'
import { type NextStep, nextStep, type RetrySchedule } from '../queue/retry-schedule.ts'
import { toInterrupted, toRow } from './attempt-rows.ts'
import type { DeliveryHosts } from './delivery-hosts.ts'
import { createHealthNotes, type ReceiverToDisable, reasonToDisable } from './receiver-health.ts'
import type { Attempt, AttemptOptions, Sendable } from './send-attempt.ts'
import type { SigningSecrets } from './signature.ts'
import type { FoundSecrets, SecretReader } from './signing-secrets.ts'

/** The counted fields of an attempt, or of a delivery that was refused without an attempt. */
export type AttemptSeen = {
  receiverId: string
  organizationId: string
  attempt?: Pick<Attempt, 'outcome' | 'durationMs'>
  /** The state of the delivery after the attempt. */
  state: DeliveryState
  /** Time since the creation of the delivery. */
  ageMs?: number
}

/** Makes one attempt. It never rejects: a failure is the attempt's `error`. */
export type Send = (delivery: Sendable, secrets: SigningSecrets, options: AttemptOptions) => Promise<Attempt>

export type OnAttempt = (seen: AttemptSeen) => void

/**
 * Runs jobs of kind `delivery`: sends each once, and stores the attempt together with the delivery's next step. The
 * schedule counts only finished attempts: an interrupted attempt is repeated.
 */
export function createRunDelivery(given: {
  secrets: SecretReader
  hosts: Pick<DeliveryHosts, 'findRefused'>
  send: Send
  clock: Clock
  random: () => number
  schedule: RetrySchedule
  timeoutMs: number
  /** Adds the headers of Standard Webhooks. */
  standard: boolean
  /** Time without a 2xx after which a receiver is given up, in ms. */
  giveUpAfterMs: number
  /** A step of a group commit. */
  disable: Step<ReceiverToDisable, unknown>
  /** Called for each attempt when it is stored. */
  onAttempt: OnAttempt
}): JobHandler {
  const { clock, send, schedule, secrets, hosts, timeoutMs, standard } = given
  const noteHealth = createHealthNotes()
  return {
    async begin(db, jobs) {
      const deliveries = await findOf(db, jobs, loadDeliveries)
      const receivers = await findReceivers(db, [...new Set(jobs.map(({ lane }) => lane))])
      const there = deliveries.filter((delivery) => delivery !== undefined)
      const found = await secrets.find(db, there)
      const refused = await hosts.findRefused(db, there)
      return jobs.map((job, n) => () => run(job, deliveries[n], receivers.get(job.lane), { found, refused }))
    },
    interrupt,
  }

  async function run(
    job: Job,
    delivery: DeliveryToSend | undefined,
    receiver: OwnedReceiver | undefined,
    { found, refused }: { found: FoundSecrets; refused: ReadonlyMap<string, string> },
  ): Promise<JobOutcome> {
    const signing = delivery && found.of(delivery)
    // The installation was removed, with its receivers and deliveries.
    if (delivery === undefined || receiver === undefined) return { move: { state: 'gone' } }
    const tenant = receiver.organizationId
    if (receiver.state === 'paused') {
      return {
        move: { state: 'waiting', reason: `The receiver ${receiver.id} is paused.` },
        stores: [stored(releaseUnlessPaused, { jobId: job.id, receiverId: receiver.id })],
      }
    }
    if (receiver.state === 'disabled') {
      return refuse(delivery, tenant, `receiver_disabled: ${receiver.reason ?? ''}`)
    }
    if (signing === undefined) {
      return refuse(
        delivery,
        tenant,
        `signer_gone: There is no ${delivery.signedBy} any more whose secret signs it.`,
      )
    }
    const why = refused.get(delivery.id)
    if (why !== undefined) return refuse(delivery, tenant, why)
    const attempt = await send(delivery, signing, { nowMs: clock.wall(), timeoutMs, standard, tenant })
    const nowMs = clock.now()
    const step = nextStep(schedule, job.attempt, attempt, { nowMs, random: given.random })
    const outcome = {
      ...toOutcome(delivery, attempt, step, nowMs),
      onStored: () => given.onAttempt(toSeen(delivery, tenant, attempt, step, nowMs)),
    }
    const stores = [...outcome.stores, noteHealth(receiver.id, step.state === 'delivered', nowMs)]
    const after = { state: step.state, createdAt: delivery.createdAt }
    const reason = reasonToDisable(receiver, attempt, after, nowMs, given.giveUpAfterMs)
    if (reason !== undefined) stores.push(stored(given.disable, { receiver, reason }))
    return { ...outcome, stores }
  }

  function refuse({ id, receiverId }: DeliveryToSend, organizationId: string, reason: string): JobOutcome {
    const refusal: Refusal = { id, reason, finishedAt: clock.now() }
    const onStored = () => given.onAttempt({ receiverId, organizationId, state: 'failed' })
    return { move: { state: 'gone' }, stores: [stored(refuseDeliveries, refusal)], onStored }
  }

  /** Stores interrupted attempts, as the receiver may have the deliveries. They do not count for the schedule. */
  async function interrupt(transaction: Db, jobs: readonly Job[]): Promise<void> {
    const deliveries = await findOf(transaction, jobs, findDeliveries)
    const cut = jobs.flatMap((job, n) => {
      const delivery = deliveries[n]
      return delivery === undefined ? [] : [{ job, delivery }]
    })
    const nowMs = clock.now()
    await insertAttempts(
      transaction,
      cut.map(({ job, delivery }) => toInterrupted(delivery, job.claimedAt, nowMs)),
    )
    await updateDeliveries(
      transaction,
      cut.map(({ delivery }) => toCounted(delivery)),
    )
  }
}

function toSeen(
  { receiverId, createdAt }: DeliveryToSend,
  organizationId: string,
  { outcome, durationMs }: Attempt,
  { state }: NextStep,
  nowMs: number,
): AttemptSeen {
  const attempt = { outcome, durationMs }
  return {
    receiverId,
    organizationId,
    attempt,
    state: state === 'due' ? 'pending' : state,
    ageMs: nowMs - createdAt,
  }
}

/** The delivery of each job, `undefined` for one that is gone. */
async function findOf<Found extends Pick<Delivery, 'id'>>(
  db: Db,
  jobs: readonly Job[],
  find: (db: Db, ids: readonly string[]) => Promise<Found[]>,
): Promise<(Found | undefined)[]> {
  const ids = jobs.map(({ id }) => withPrefix(id, 'dlv'))
  const found = new Map((await find(db, ids)).map((delivery) => [delivery.id, delivery]))
  return ids.map((id) => found.get(id))
}

function toOutcome(
  delivery: DeliveryToSend,
  attempt: Attempt,
  step: NextStep,
  nowMs: number,
): JobOutcome & { stores: readonly Stored[] } {
  const number = delivery.attempts + 1
  const said = describe(attempt)
  const isOver = step.state !== 'due'
  const change: DeliveryChange = {
    id: delivery.id,
    state: isOver ? step.state : 'pending',
    reason: step.state === 'failed' ? `${step.reason}: ${said}` : null,
    attempts: number,
    finishedAt: isOver ? nowMs : null,
  }
  const stores = [
    stored(storeAttempts, toRow(delivery.id, number, attempt)),
    stored(changeDeliveries, change),
  ]
  return {
    move: isOver ? { state: 'gone' } : { ...step, reason: said },
    health: healthOf(attempt),
    stores,
  }
}

/** A receiver that rejects one delivery is up, and may take others. */
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

/** A job that waits for a resume of its receiver. */
type WaitingJob = { jobId: string; receiverId: string }

/** Releases jobs whose receiver was resumed after their claim. The resume itself releases earlier jobs. */
const releaseUnlessPaused = async (transaction: Db, waiting: readonly WaitingJob[]): Promise<[]> => {
  const receiverIds = new Set(waiting.map(({ receiverId }) => receiverId))
  const unpaused = await findUnpaused(transaction, [...receiverIds])
  const ids = waiting.flatMap(({ jobId, receiverId }) => (unpaused.includes(receiverId) ? [jobId] : []))
  if (ids.length > 0) await releaseJobs(transaction, ids)
  return []
}

function toCounted({ id, state, reason, attempts, finishedAt }: Delivery): DeliveryChange {
  return { id, state, reason, attempts: attempts + 1, finishedAt }
}

function describe({ status, error }: Attempt): string {
  return error === undefined ? `answered ${status}` : error.message
}
