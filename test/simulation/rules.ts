import { defaultSchedule } from '../../host/queue/retry-schedule.ts'
import type { Host } from './host.ts'
import type { Hosts } from './hosts.ts'
import { createLeases, leaseOf } from './leases.ts'
import type { Plan } from './plan.ts'
import type { Disk } from './world/disk.ts'
import type { Network, Sent } from './world/network.ts'
import { epochMs, type World } from './world/world.ts'

type Watched = {
  plan: Plan
  world: World
  disk: Disk
  network: Network
  hosts: Hosts
}

/** What must hold at each moment. @throws Error that says which rule was broken */
export type Rules = { atSend: (sent: Sent) => void; atRest: () => void }

type JobRow = {
  id: string
  lease_id: string | null
  lane: string
  state: string
  ordered: number
  position: number
  due_at: number
  claimed_at: number | null
  host_id: string | null
}

export function createRules(watched: Watched): Rules {
  const { plan, world, disk, network } = watched
  const most = plan.lanes.most
  /** Hosts that are told nothing of each other's work look for it once a second; a look is up to twelve statements. */
  const slackMs = (plan.hosts > 1 ? 1_000 : 1) + plan.disk.slowestMs * 12
  const isSteady = plan.jumps.length === 0
  const leases = createLeases({ world, disk, find: watched.hosts.find })
  return { atSend, atRest }

  function atSend(sent: Sent): void {
    const { receiver, owner, deliveryId } = sent
    const open = network.open().filter((other) => other.receiver === receiver)
    const ofOwner = open.filter((other) => other.owner === owner)
    check(ofOwner.length <= most, `${receiver.id} has ${ofOwner.length} requests at once, of ${most}`)
    const job = jobOf(deliveryId)
    const isOwn = job?.host_id === (owner as Host).id
    leases.keep(sent, job?.lease_id && isOwn ? leaseOf(job.id, job.lease_id) : undefined)
    // What a host says and does whose claims others have taken over counts no more.
    if (owner.stalledUntil > 0) return
    const [delivery] = disk.rows<{ state: string }>('select state from deliveries where id = ?', deliveryId)
    check(delivery?.state === 'pending', `${deliveryId} is sent, and it is ${delivery?.state}`)
    check(job?.state === 'running', `${deliveryId} is sent, and its job is ${job?.state ?? 'gone'}`)
    check(isOwn, `${deliveryId} is sent, and ${job?.host_id} has its job`)
    if (job === undefined) return
    const claimedAt = job.claimed_at ?? 0
    check(job.due_at <= claimedAt, `${deliveryId} is sent ${job.due_at - claimedAt} ms before it is due`)
    checkReceiver(sent, claimedAt)
    if (isSteady) checkWait(sent, job)
    if (receiver.ordered) checkOrder(sent, job)
  }

  function checkReceiver({ receiver }: Sent, claimedAt: number): void {
    const sql = 'select state, updated_at from receivers where id = ?'
    const [row] = disk.rows<{ state: string; updated_at: number }>(sql, receiver.id)
    const isHeld = row?.state !== 'active' && isSteady && (row?.updated_at ?? 0) < claimedAt
    check(!isHeld, `${receiver.id} is ${row?.state}, and is sent something`)
  }

  /** A retry comes when the schedule, and what the receiver asked for, allow it. */
  function checkWait({ deliveryId, startedAtMs, receiver }: Sent, { due_at }: JobRow): void {
    const sql = `select started_at + duration_ms as ended_at, started_at, outcome from attempts
      where delivery_id = ? and outcome <> 'interrupted' order by number`
    const attempts = disk.rows<{ ended_at: number; started_at: number }>(sql, deliveryId)
    const last = attempts.at(-1)
    if (last === undefined) return
    const { answer, answeredAt = 0 } =
      network.sent.find(
        (sent) =>
          sent.deliveryId === deliveryId && sent.startedAtMs === last.started_at && sent.answer !== undefined,
      ) ?? {}
    const asked = Number(answer?.retryAfter)
    const delayMs = plan.delaysMs[attempts.length - 1] ?? 0
    const least = Math.max(delayMs, asked > 0 ? asked * 1_000 : 0)
    const waited = startedAtMs - last.ended_at
    check(waited >= least, `${deliveryId} is tried again after ${waited} ms instead of ${least}`)
    // A pause has due times of its own.
    if (answer?.retryAfter !== undefined || receiver.pauses.length > 0) return
    const dueAfterMs = due_at - epochMs - answeredAt
    const longestMs = delayMs * (1 + defaultSchedule.jitter)
    check(dueAfterMs <= longestMs, `${deliveryId} is due after ${dueAfterMs} ms instead of ${longestMs}`)
  }

  function checkOrder(sent: Sent, { position }: JobRow): void {
    const { receiver, deliveryId } = sent
    const sql = 'select id from jobs where lane = ? and position < ?'
    const before = disk.rows(sql, receiver.id, position)
    check(before.length === 0, `${deliveryId} overtakes ${before.length} that came before it`)
    const others = network
      .open()
      .filter((other) => other !== sent && other.receiver === receiver && !leases.isLost(other))
    check(others.length === 0, `${receiver.id} keeps its order, and has two requests at once`)
  }

  /** While a host works, no due job may be late unless a rule holds it back. */
  function atRest(): void {
    leases.check()
    const hosts = watched.hosts.working()
    if (hosts.length === 0 || disk.isBusy()) return
    const jobs = disk.rows<JobRow>(
      'select lane, state, ordered, position, due_at, claimed_at, host_id from jobs order by position',
    )
    if (plan.hosts === 1) {
      const left = jobs.find(({ state, host_id }) => state === 'running' && host_id !== hosts[0]?.id)
      check(left === undefined, `a job of ${left?.lane} is still claimed by ${left?.host_id}, which is gone`)
    }
    if (!isSteady || watched.hosts.excusedUntil() > world.time() || network.open().length >= plan.concurrency)
      return
    for (const lane of new Set(jobs.map((job) => job.lane))) {
      const ofLane = jobs.filter((job) => job.lane === lane)
      if (ofLane.some(({ state }) => state === 'running') || isLeftAlone(lane)) continue
      const next = (ofLane[0]?.ordered ? ofLane.slice(0, 1) : ofLane).filter(({ state }) => state === 'due')
      const dueAt = Math.min(...next.map(({ due_at }) => due_at)) - epochMs
      const lateMs = world.time() - Math.max(dueAt, leases.freeSince(lane, hosts))
      check(lateMs <= slackMs, `a job of ${lane} is ${lateMs} ms late, and nobody does it`)
    }
  }

  /** So many failures in a row that the circuit may be open. */
  function isLeftAlone(lane: string): boolean {
    const { circuit } = plan.lanes
    if (circuit === undefined) return false
    const last = network.answered(lane).slice(-circuit.failures)
    const areBad = last.length === circuit.failures && last.every(({ answer }) => isBad(answer?.status))
    return areBad && (last.at(-1)?.answeredAt ?? 0) + circuit.longestMs * 1.1 >= world.time()
  }

  function jobOf(deliveryId: string): JobRow | undefined {
    return disk.rows<JobRow>('select * from jobs where subject = ?', JSON.stringify({ id: deliveryId }))[0]
  }
}

function check(holds: boolean, broken: string): void {
  if (!holds) throw new Error(broken)
}

const isBad = (status: number | undefined): boolean => status === undefined || status === 429 || status >= 500
