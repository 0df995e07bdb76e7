import { createSecretBox } from '../../host/access/secret-box.ts'
import type { Clock } from '../../host/db/database-clock.ts'
import { createGroupCommit } from '../../host/db/group-commit.ts'
import { type QueuedDelivery, queueDeliveries } from '../../host/db/queries/deliveries.ts'
import { defaultSchedule } from '../../host/queue/retry-schedule.ts'
import { createWorker, type Worker } from '../../host/queue/worker.ts'
import { createDeliveryHosts } from '../../host/webhooks/delivery-hosts.ts'
import { createDisable } from '../../host/webhooks/receiver-health.ts'
import { createRunDelivery } from '../../host/webhooks/run-delivery.ts'
import { createSecretReader } from '../../host/webhooks/signing-secrets.ts'
import type { Plan, Receiver } from './plan.ts'
import type { Disk, DiskFaults } from './world/disk.ts'
import type { Network } from './world/network.ts'
import type { Random } from './world/random.ts'
import type { Owner, World } from './world/world.ts'

/** A host: the engine as the server puts it together, on a disk, a network and a clock that are simulated. */
export type Host = Owner & {
  id: string
  clock: Clock
  /** Until this time, stalls or the database may prevent renewals of the host's leases. */
  troubledUntil: number
  /** @param downMs after which another one is started */
  crash: (downMs?: number) => void
  /** Resolves when it is stored: that is its acknowledgement. */
  publish: (receiver: Receiver, eventId: string) => Promise<QueuedDelivery>
  /** While it works: not before it has started, and not when it has been asked to stop. */
  worker: SimulatedWorker | undefined
  stop: (downMs: number) => Promise<void>
}

/** The hosts of the simulation miss one another. The engine needs nothing of it: leases lapse. */
type SimulatedWorker = Worker & { takeOver: (hostIds: readonly string[]) => Promise<void> }

/** Shorter than the stalls of a plan: leases of a stalled host lapse. */
export const leaseMs = 1_500

export const box = createSecretBox(new Uint8Array(32))

export function startHost(given: {
  id: string
  plan: Plan
  world: World
  disk: Disk
  installationId: string
  network: Network
  random: Random
  faults: DiskFaults
  onCrash: (downMs?: number) => void
  onDefect: (error: unknown) => void
}): Host {
  const { id, plan, world, network } = given
  const owner: Owner = { isGone: false, stalledUntil: 0 }
  const clock = world.clockOf(owner, plan.hosts > 1)
  const host: Host = Object.assign(owner, {
    ...{ id, clock, crash, publish, worker: undefined, stop },
    troubledUntil: plan.disk.slowestMs * 12 > leaseMs / 3 ? Number.POSITIVE_INFINITY : 0,
  })
  const db = given.disk.open(world, host, given.faults)
  db.userParams = { ...db.userParams, clock }
  const random = given.random.next
  const dialect = plan.hosts > 1 ? 'postgres' : 'sqlite'
  const commits = createGroupCommit(db)
  world.note(`${id} starts`)
  const handler = createRunDelivery({
    ...{
      secrets: createSecretReader(box, clock),
      hosts: createDeliveryHosts({ isRequired: false }),
      standard: false,
      clock,
      random,
      timeoutMs: 10_000,
      giveUpAfterMs: plan.giveUpAfterMs,
    },
    send: network.sendFor(host),
    schedule: { ...defaultSchedule, delaysMs: plan.delaysMs },
    onAttempt: () => {},
    disable: createDisable({ report: ({ text }) => world.note(text) }),
  })
  createWorker({
    database: { db, dialect },
    commits,
    clock,
    random,
    hostId: id,
    leaseMs,
    // The receivers of a plan belong to one installation, which may have three quarters in flight.
    concurrency: Math.ceil((plan.concurrency * 4) / 3),
    lanes: plan.lanes,
    handlers: { delivery: handler },
    onDefect: given.onDefect,
  }).then(
    (worker) => {
      host.worker = { ...worker, takeOver: async () => {} }
    },
    // A server that cannot start says so and ends.
    (error) => {
      given.onDefect(error)
      crash()
    },
  )
  return host

  function crash(downMs?: number): void {
    if (host.isGone) return
    host.isGone = true
    world.note(`${id} is gone`)
    given.disk.release(host)
    given.onCrash(downMs)
  }

  async function publish(receiver: Receiver, eventId: string): Promise<QueuedDelivery> {
    const stored = await commits.store(queueDeliveries, {
      ...{ installationId: given.installationId, signedBy: 'installation', url: receiver.url },
      ...{ eventId, eventType: 'example', body: `{"eventId":"${eventId}"}`, hops: 0 },
    })
    host.worker?.wake()
    return stored
  }

  /** As on SIGTERM. */
  async function stop(downMs: number): Promise<void> {
    world.note(`${id} is asked to stop`)
    const { worker } = host
    host.worker = undefined
    try {
      await worker?.close()
      await commits.close()
    } catch (error) {
      given.onDefect(error)
    }
    crash(downMs)
  }
}
