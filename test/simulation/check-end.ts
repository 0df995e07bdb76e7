import type { QueuedDelivery } from '../../host/db/queries/deliveries.ts'
import type { Plan } from './plan.ts'
import type { Disk } from './world/disk.ts'
import type { Network, Sent } from './world/network.ts'

type DeliveryRow = {
  id: string
  receiver_id: string
  state: string
  reason: string | null
  attempts: number
  finished_at: number | null
}
type AttemptRow = { number: number; outcome: string; status: number | null; started_at: number }
type ReceiverRow = { id: string; state: string; failing_since: number | null }

/** What must hold when no work is pending. @throws Error that names the broken rule */
export function checkEnd(given: {
  plan: Plan
  disk: Disk
  network: Network
  acknowledged: readonly QueuedDelivery[]
}): void {
  const { plan, disk, network } = given
  const deliveries = disk.rows<DeliveryRow>('select * from deliveries order by id')
  const receivers = disk.rows<ReceiverRow>('select * from receivers')
  for (const { id } of given.acknowledged) {
    check(
      deliveries.some((delivery) => delivery.id === id),
      `${id} was acknowledged and is not there`,
    )
  }
  for (const delivery of deliveries) {
    const attempts = disk.rows<AttemptRow>(
      'select * from attempts where delivery_id = ? order by number',
      delivery.id,
    )
    const sent = network.sent.filter(({ deliveryId }) => deliveryId === delivery.id)
    checkAttempts(delivery, attempts, sent)
    const receiver = receivers.find(({ id }) => id === delivery.receiver_id)
    checkResult(delivery, attempts, { sent, receiver, most: plan.delaysMs.length + 1 })
  }
  for (const receiver of receivers) checkReceiver(receiver, given)
}

function checkAttempts(
  { id, attempts }: DeliveryRow,
  rows: readonly AttemptRow[],
  sent: readonly Sent[],
): void {
  const numbers = rows.map(({ number }) => number).join()
  check(numbers === rows.map((_row, n) => n + 1).join(), `${id} has the attempts ${numbers}`)
  check(attempts === rows.length, `${id} counts ${attempts} attempts and has ${rows.length}`)
  check(sent.length <= rows.length, `${id} was sent ${sent.length} times and has ${rows.length} attempts`)
  for (const { number, status, started_at } of rows.filter(isOver)) {
    const isSo = sent.some(
      ({ startedAtMs, answer }) => startedAtMs === started_at && (answer?.status ?? null) === status,
    )
    check(isSo, `attempt ${number} of ${id} says ${status}, which no request was answered with`)
  }
}

type Context = { sent: readonly Sent[]; receiver: ReceiverRow | undefined; most: number }

function checkResult(
  { id, state, reason, finished_at }: DeliveryRow,
  rows: readonly AttemptRow[],
  { sent, receiver, most }: Context,
): void {
  const over = rows.filter(isOver)
  const last = over.at(-1)
  check(finished_at !== null, `${id} is ${state} and has no end`)
  check(over.length <= most, `${id} was tried ${over.length} times, of ${most}`)
  const delivered = over.filter(({ outcome }) => outcome === 'delivered')
  check(delivered.length <= 1, `${id} was delivered ${delivered.length} times`)
  if (state === 'delivered') {
    check(last?.outcome === 'delivered', `${id} is delivered, and its last attempt is ${last?.outcome}`)
    check(
      sent.some(({ isTaken }) => isTaken),
      `${id} is delivered, and nobody has it`,
    )
    return
  }
  check(state === 'failed', `${id} is ${state}, and no job does anything about it`)
  check(delivered.length === 0, `${id} is failed, and was delivered`)
  const why = (reason ?? '').split(':')[0] ?? ''
  const expected =
    receiver?.state === 'disabled'
      ? [reasonOf(last, over.length, most), 'receiver_disabled']
      : [reasonOf(last, over.length, most)]
  check(expected.includes(why), `${id} failed with "${reason}" instead of ${expected.join(' or ')}`)
}

function reasonOf(last: AttemptRow | undefined, count: number, most: number): string {
  const status = last?.status
  if (last === undefined) return 'nothing'
  if (status != null && status >= 300 && status < 400) return 'redirect'
  if (status != null && status < 500 && status !== 429) return 'rejected'
  return count === most ? 'exhausted' : 'nothing'
}

function checkReceiver(
  { id, state, failing_since }: ReceiverRow,
  { plan, disk }: { plan: Plan; disk: Disk },
): void {
  const attempts = disk.rows<AttemptRow>(
    'select * from attempts where delivery_id in (select id from deliveries where receiver_id = ?)',
    id,
  )
  const receiver = plan.receivers.find((one) => one.id === id)
  const isGone = attempts.some(({ status }) => status === 410)
  // One that says so while it is paused is asked again after the resume.
  if (receiver?.pauses.length === 0)
    check(!isGone || state === 'disabled', `${id} answered 410 and is ${state}`)
  const neverGivenUp = !isGone && plan.giveUpAfterMs > 3_600_000
  check(!neverGivenUp || state === 'active', `${id} is ${state}, for no reason`)
  // Hosts that share a database may store what they heard in another order.
  if (failing_since === null || plan.jumps.length > 0 || plan.hosts > 1) return
  const since = attempts.filter(
    ({ outcome, started_at }) => outcome === 'delivered' && started_at > failing_since,
  )
  check(since.length === 0, `${id} is said to fail, and has delivered ${since.length} since`)
}

const isOver = ({ outcome }: AttemptRow): boolean => outcome !== 'interrupted'

function check(holds: boolean, broken: string): void {
  if (!holds) throw new Error(broken)
}
