import { lookup } from 'node:dns/promises'
import type { Resolve } from './guarded-connect.ts'

type Options = {
  /** Lookups at once. Default 2: libuv gives name resolution half of its four threads. */
  atOnce?: number
  /** From when on a lookup is slow. */
  slowMs?: number
  /** Names of which it is remembered how long they took. */
  remembered?: number
}

/** As they get their turns. A name whose last lookup was slow waits until nobody else does. */
const kinds = ['prompt', 'new', 'slow'] as const
type Kind = (typeof kinds)[number]

type Waiting = { kind: Kind; start: () => void }

/**
 * Name resolution by the operating system, so that /etc/hosts counts, in turns. The system has few threads for it, and
 * a name whose servers are silent holds one for 10 s and more: a few such receivers would keep every connection from
 * being opened. So names that were prompt always have a thread to themselves, which no new or slow one can take.
 *
 * All who ask for a name at the same time get the same answer; nothing is kept for those who ask later, and each checks
 * the addresses that it got.
 */
export function createLookups(resolve: Resolve = resolveBySystem, options: Options = {}): Resolve {
  const { atOnce = 2, slowMs = 1_000, remembered = 10_000 } = options
  const past = new Map<string, Kind>()
  const underWay = new Map<string, ReturnType<Resolve>>()
  const waiting: Waiting[] = []
  const running: Record<Kind, number> = { prompt: 0, new: 0, slow: 0 }

  const isFree = (kind: Kind): boolean => {
    const others = running.new + running.slow
    return running.prompt + others < atOnce && (kind === 'prompt' || others < atOnce - 1)
  }

  const startNext = (): void => {
    for (const kind of kinds) {
      while (isFree(kind)) {
        const at = waiting.findIndex((one) => one.kind === kind)
        if (at === -1) break
        waiting.splice(at, 1)[0]?.start()
      }
    }
  }

  async function run(hostname: string, kind: Kind): ReturnType<Resolve> {
    running[kind] += 1
    const since = performance.now()
    try {
      return await resolve(hostname)
    } finally {
      running[kind] -= 1
      underWay.delete(hostname)
      past.delete(hostname)
      past.set(hostname, performance.now() - since < slowMs ? 'prompt' : 'slow')
      const [oldest] = past.keys()
      if (past.size > remembered && oldest !== undefined) past.delete(oldest)
      startNext()
    }
  }

  return (hostname) => {
    const shared = underWay.get(hostname)
    if (shared !== undefined) return shared
    const kind = past.get(hostname) ?? 'new'
    const { promise, resolve: settle } = Promise.withResolvers<Awaited<ReturnType<Resolve>>>()
    underWay.set(hostname, promise)
    waiting.push({ kind, start: () => settle(run(hostname, kind)) })
    startNext()
    return promise
  }
}

const resolveBySystem: Resolve = (hostname) => lookup(hostname, { all: true })
