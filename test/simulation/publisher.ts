import type { QueuedDelivery } from '../../host/db/queries/deliveries.ts'
import type { Host } from './host.ts'
import type { Hosts } from './hosts.ts'
import type { Plan } from './plan.ts'
import type { Random } from './world/random.ts'
import type { World } from './world/world.ts'

export type Publisher = {
  begin: () => void
  /** What a host has said it stored. */
  acknowledged: readonly QueuedDelivery[]
  isDone: () => boolean
}

const againAfterMs = 500

/** Publishes the events of a plan, and publishes again, with the same id, what a host has refused or died over. */
export function createPublisher(given: {
  plan: Plan
  world: World
  random: Random
  hosts: Hosts
}): Publisher {
  const { plan, world, random, hosts } = given
  const acknowledged: QueuedDelivery[] = []
  let left = plan.events.length
  return {
    acknowledged,
    isDone: () => left === 0,
    begin() {
      for (const event of plan.events) world.after(event.at, () => publish(event))
    },
  }

  function publish(event: Plan['events'][number]): void {
    const again = () => world.after(againAfterMs, () => publish(event))
    const host: Host | undefined = hosts.pick()
    if (host === undefined) return void again()
    const { receiver, eventId } = event
    let isOver = false
    host.publish(receiver, eventId).then((owed) => {
      if (isOver) return
      isOver = true
      world.note(`${host.id} stored ${owed.id} (${eventId} to ${receiver.id})`)
      acknowledged.push(owed)
      left -= 1
    }, giveUp)
    // A publisher does not wait for a host that is gone. Whether the event was stored is unknown.
    world.after(againAfterMs, giveUpIfGone)

    function giveUpIfGone(): void {
      if (isOver) return
      if (host?.isGone) giveUp()
      else world.after(againAfterMs, giveUpIfGone)
    }

    function giveUp(): void {
      if (isOver) return
      isOver = true
      if (random.chance(0.7)) again()
      else left -= 1
    }
  }
}
