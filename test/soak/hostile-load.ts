import { setTimeout as sleep } from 'node:timers/promises'
import { codeOf } from './honest-load.ts'
import { attacks, hostileNames } from './plugins.ts'

const givenUpMs = 8_000
/** Of an answer that does not end. */
const readBytes = 2 * 1024 * 1024

/** Numbers in [0, 1) that come again with the same seed. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    // Mulberry32 is as good as it has to be here.
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export type HostileLoad = {
  /** How each request of an attack has ended. */
  outcomes: Map<string, number>
  /** The attacks of the moment. */
  running: Set<string>
  begun: () => number
  stop: () => Promise<void>
}

/**
 * Attacks at random: several installations at once, each with one attack after the other, now and then with a flood
 * of requests, or with one that fails while it is loaded.
 */
export function startHostileLoad(given: { url: string; random: () => number }): HostileLoad {
  const { url, random } = given
  const outcomes = new Map<string, number>()
  const running = new Set<string>()
  let begun = 0
  const controller = new AbortController()
  const names = Object.keys(attacks)
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
  const loops = hostileNames.map(async (installation) => {
    while (!controller.signal.aborted) {
      await sleep(random() * 1500, undefined, { signal: controller.signal }).catch(() => {})
      const isBomb = random() < 0.03
      const attack = pick(names)
      const attacked = isBomb ? `${url}/x/bomber` : `${url}/x/${installation}/${attack}`
      const copies = random() < 0.05 ? 400 : 1
      const name = `${attacked.slice(url.length + 3)}${copies > 1 ? ` x ${copies}` : ''}`
      begun += 1
      running.add(name)
      await Promise.all(Array.from({ length: copies }, () => strike(attacked)))
      running.delete(name)
    }
  })
  return {
    outcomes,
    running,
    begun: () => begun,
    async stop() {
      controller.abort()
      await Promise.all(loops)
    },
  }

  async function strike(attacked: string): Promise<void> {
    const outcome = await outcomeOf(attacked, controller.signal)
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
  }
}

/** How one request of an attack ends. */
export async function outcomeOf(attacked: string, stop: AbortSignal): Promise<string> {
  try {
    const signal = AbortSignal.any([stop, AbortSignal.timeout(givenUpMs)])
    const response = await fetch(attacked, { signal })
    if (response.ok) {
      // Not for ever: four hundred of them would keep this program from its own honest requests.
      let bytes = 0
      for await (const chunk of response.body ?? []) {
        bytes += chunk.length
        if (bytes > readBytes) return 'read no further'
      }
      return 'answered'
    }
    return `${response.status} ${codeOf(await response.text())}`
  } catch (error) {
    if (stop.aborted) return 'stopped'
    return (error as Error).name === 'TimeoutError' ? 'given up by its visitor' : 'broken off'
  }
}
