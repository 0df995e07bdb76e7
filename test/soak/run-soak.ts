import { setTimeout as sleep } from 'node:timers/promises'
import { publishEvents, waitForDeliveries } from './events-load.ts'
import { startHonestLoad } from './honest-load.ts'
import { explainFailures, type Phase, tell, toPhase } from './honest-results.ts'
import { createRandom, startHostileLoad } from './hostile-load.ts'
import { honestNames } from './plugins.ts'
import { startSoakedAnnex } from './soaked-annex.ts'
import { watchProcesses } from './watch-processes.ts'

export type SoakResult = {
  seconds: number
  seed: number
  /** Before the hostile load began, and with it. */
  phases: Phase[]
  /** Why honest requests failed, and how often. */
  failures: Map<string, number>
  attacks: number
  outcomes: Map<string, number>
  processesEnded: number
  events: { published: number; delivered: number }
  memory: { hostStartMb: number; hostEndMb: number; hostPeakMb: number; sandboxesPeakMb: number }
}

export type Note = (text: string) => void

/**
 * Runs one Annex with hostile and honest installations side by side, some of them in the same group. Calm first, so
 * that what the machine itself does to the honest ones can be seen; then the storm.
 */
export async function runSoak(given: {
  seconds: number
  /** The storm goes on until as many have begun, on a slow machine up to three times as long. Default: it does not. */
  leastAttacks?: number
  seed: number
  note: Note
}): Promise<SoakResult> {
  const { seconds, leastAttacks = 0, seed, note } = given
  await using ends = new AsyncDisposableStack()
  const { annex, receiver, endpoints } = await startSoakedAnnex(ends)

  const honest = startHonestLoad(endpoints)
  ends.defer(honest.stop)
  const watch = watchProcesses(annex)
  ends.defer(async () => watch.stop())
  const events = publishEvents(annex)
  ends.defer(events.stop)

  // The first second compiles, on every side.
  await sleep(1_000)
  honest.answers.length = 0
  await sleep(Math.max(3, seconds / 10) * 1000)
  const memoryAtStart = watch.hostMb()
  note(`calm is over; seed ${seed}`)

  const stormAtMs = performance.now()
  const hostile = startHostileLoad({ url: annex.origin, random: createRandom(seed) })
  ends.defer(hostile.stop)
  let told = honest.answers.length
  const teller = setInterval(() => {
    const at = Math.round((performance.now() - stormAtMs) / 1000)
    tell(`${at} s`, honest.answers.slice(told), hostile.running, note)
    told = honest.answers.length
  }, 1000)
  ends.defer(async () => clearInterval(teller))

  await sleep(seconds * 1000)
  const longestMs = seconds * 3_000
  while (hostile.begun() < leastAttacks && performance.now() - stormAtMs < longestMs) await sleep(100)
  await hostile.stop()
  // Pending deliveries come after the attacks.
  await events.stop()
  await waitForDeliveries(events.published, receiver)
  await honest.stop()
  const inStorm = honest.answers.filter(({ atMs }) => atMs >= stormAtMs)
  const result = {
    seconds,
    seed,
    phases: [
      toPhase(
        'calm',
        honest.answers.filter(({ atMs }) => atMs < stormAtMs),
      ),
      toPhase(
        'storm, operator’s own',
        inStorm.filter(({ name }) => isOwn(name)),
      ),
      toPhase(
        'storm, among the hostile',
        inStorm.filter(({ name }) => !isOwn(name)),
      ),
    ],
    failures: await explainFailures(annex, honest.answers),
    attacks: hostile.begun(),
    outcomes: hostile.outcomes,
    processesEnded: watch.ended(),
    events: {
      published: events.published.size,
      delivered: [...events.published].filter((id) => receiver.delivered.has(id)).length,
    },
    memory: {
      hostStartMb: memoryAtStart,
      hostEndMb: watch.hostMb(),
      hostPeakMb: watch.hostPeakMb(),
      sandboxesPeakMb: watch.sandboxesPeakMb(),
    },
  }
  return result
}

const isOwn = (name: string): boolean => honestNames.indexOf(name) < 2
