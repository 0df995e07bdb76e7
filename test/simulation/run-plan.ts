import { checkEnd } from './check-end.ts'
import { createHosts } from './hosts.ts'
import { drawPlan, type Plan } from './plan.ts'
import { createPublisher } from './publisher.ts'
import { createRules } from './rules.ts'
import { decideByWorld } from './world/decide-by-world.ts'
import type { Disk } from './world/disk.ts'
import { createNetwork } from './world/network.ts'
import { createRandom } from './world/random.ts'
import { createWorld } from './world/world.ts'

/** What came of a seed. `broken` says which rule was. */
export type Report = { seed: number; broken?: string; plan: Plan; notes: readonly string[]; sent: number }

/** Longer than any plan needs, including clocks that jump: work that is still pending then is lost. */
const longestMs = 2_400_000

/** Runs the plan of a seed until no work is pending. */
export async function runSeed(seed: number, disk: Disk, installationId: string): Promise<Report> {
  const plan = drawPlan(seed)
  const world = createWorld()
  const random = createRandom(seed ^ 0x5eed)
  const putBack = decideByWorld(world)
  const brokenRules: string[] = []
  const guard = (check: () => void) => {
    try {
      check()
    } catch (error) {
      brokenRules.push(error instanceof Error ? error.message : String(error))
    }
  }
  const network = createNetwork({
    ...{ world, random, receivers: plan.receivers },
    onSend: (sent) => guard(() => rules.atSend(sent)),
  })
  const hosts = createHosts({ plan, world, disk, network, random, installationId })
  const rules = createRules({ plan, world, disk, network, hosts })
  const publisher = createPublisher({ plan, world, random, hosts })
  try {
    disk.empty()
    for (const { id, url, ordered } of plan.receivers) {
      disk.rows(
        `insert into receivers (id, installation_id, signed_by, url, state, ordered, created_at, updated_at)
         values (?, ?, 'installation', ?, 'active', ?, 0, 0)`,
        ...[id, installationId, url, Number(ordered)],
      )
    }
    hosts.begin()
    publisher.begin()
    for (;;) {
      await world.atRest()
      guard(rules.atRest)
      if (brokenRules.length > 0) break
      if (publisher.isDone() && hosts.areDone() && isNothingOwed(disk)) break
      if (world.time() > longestMs) throw new Error(`still owed after ${longestMs} ms: ${owedOf(disk)}`)
      world.goOn()
    }
    if (brokenRules.length === 0)
      guard(() => checkEnd({ plan, disk, network, acknowledged: publisher.acknowledged }))
  } catch (error) {
    brokenRules.push(error instanceof Error ? (error.stack ?? error.message) : String(error))
  } finally {
    hosts.end()
    await world.atRest()
    putBack()
  }
  const [broken] = brokenRules
  const report = { seed, plan, notes: world.notes, sent: network.sent.length }
  return broken === undefined ? report : { ...report, broken }
}

const isNothingOwed = (disk: Disk): boolean =>
  !disk.isBusy() && disk.rows('select 1 from jobs limit 1').length === 0

const owedOf = (disk: Disk): string =>
  JSON.stringify(disk.rows('select id, lane, state, attempt, due_at, host_id, last_error from jobs limit 5'))
