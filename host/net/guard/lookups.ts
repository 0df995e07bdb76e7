import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { keepLast } from '../../keep-last.ts'
import type { Resolve } from './guarded-connect.ts'
import { createLookupLines, createShares } from './lookup-lines.ts'

type Options = {
  /** Lookups at once. Default 2: libuv gives name resolution half of its four threads. */
  atOnce?: number
  /** From when on a lookup is slow. */
  slowMs?: number
  /** Names of which it is remembered how long they took, and askers. */
  remembered?: number
  /** How long somebody waits for a lookup: as long as for a connection. One that nobody waits for is not begun. */
  patienceMs?: number
  /** How long an asker whose name was prompt and then slow has none that count as prompt. */
  distrustMs?: number
}

/** As they get their turns. A name whose last lookup was slow waits until nobody else does. */
const kinds = ['prompt', 'new', 'slow'] as const
type Kind = (typeof kinds)[number]

type Lookup = {
  hostname: string
  /** When it was asked for last. */
  askedAt: number
  begun: boolean
} & PromiseWithResolvers<LookupAddress[]>

/**
 * Name resolution by the operating system, so that /etc/hosts counts, in turns. The system has few threads for it, and
 * a name whose servers are silent holds one for 10 s and more: a few such receivers would keep every connection from
 * being opened. So names that were prompt always have a thread to themselves, which no new or slow one can take. And
 * askers take turns by the time that their names took: thousands of silent ones hold up whoever owns them.
 *
 * All who ask for a name at the same time get the same answer; nothing is kept for those who ask later, and each checks
 * the addresses that it got.
 */
export function createLookups(resolve: Resolve = resolveBySystem, options: Options = {}): Resolve {
  const { atOnce = 2, slowMs = 1_000, remembered = 10_000, patienceMs = 10_000 } = options
  const { distrustMs = 600_000 } = options
  const past = new Map<string, Kind>()
  /** Until when, by asker. */
  const distrusted = new Map<string, number>()
  const underWay = new Map<string, Lookup>()
  const shares = createShares(remembered)
  const lineOf = () => createLookupLines<Lookup>(shares, isWanted)
  const lines = { prompt: lineOf(), new: lineOf(), slow: lineOf() }
  const running: Record<Kind, number> = { prompt: 0, new: 0, slow: 0 }

  return (hostname, asker = '') => {
    const lookup = underWay.get(hostname) ?? begin(hostname)
    lookup.askedAt = performance.now()
    if (!lookup.begun) lines[kindOf(hostname, asker)].join(asker, lookup)
    startNext()
    return lookup.promise
  }

  function begin(hostname: string): Lookup {
    const lookup = { hostname, askedAt: 0, begun: false, ...Promise.withResolvers<LookupAddress[]>() }
    underWay.set(hostname, lookup)
    return lookup
  }

  function kindOf(hostname: string, asker: string): Kind {
    const kind = past.get(hostname) ?? 'new'
    return kind === 'prompt' && (distrusted.get(asker) ?? 0) > performance.now() ? 'new' : kind
  }

  function isFree(kind: Kind): boolean {
    const others = running.new + running.slow
    return running.prompt + others < atOnce && (kind === 'prompt' || others < atOnce - 1)
  }

  function startNext(): void {
    for (const kind of kinds) {
      while (isFree(kind)) {
        const next = lines[kind].next()
        if (next === undefined) break
        const { asker, lookup } = next
        // It stood in line before one of its asker's others was found to be silent.
        if (kind === 'prompt' && kindOf(lookup.hostname, asker) === 'new') lines.new.join(asker, lookup)
        else void run(lookup, kind, asker)
      }
    }
  }

  /** Whether it is still to be begun. */
  function isWanted(lookup: Lookup): boolean {
    if (lookup.begun) return false
    if (performance.now() - lookup.askedAt < patienceMs) return true
    underWay.delete(lookup.hostname)
    lookup.begun = true
    lookup.reject(Object.assign(new Error('Its turn came too late.'), { code: 'EAI_AGAIN' }))
    return false
  }

  async function run(lookup: Lookup, kind: Kind, asker: string): Promise<void> {
    const { hostname } = lookup
    lookup.begun = true
    running[kind] += 1
    const since = performance.now()
    lookup.resolve(resolve(hostname))
    await lookup.promise.catch(() => {})
    const took = performance.now() - since
    running[kind] -= 1
    underWay.delete(hostname)
    shares.spend(asker, took)
    if (kind === 'prompt' && took >= slowMs) {
      keepLast(distrusted, asker, performance.now() + distrustMs, remembered)
    }
    keepLast(past, hostname, took < slowMs ? 'prompt' : 'slow', remembered)
    startNext()
  }
}

const resolveBySystem: Resolve = (hostname) => lookup(hostname, { all: true })
