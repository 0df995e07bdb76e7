import type { LookupAddress } from 'node:dns'
import { getServers, Resolver } from 'node:dns/promises'
import { setTimeout } from 'node:timers/promises'
import { storeNewest } from '../cache.ts'
import type { Resolve } from './guard.ts'
import { createHostsFile } from './hosts-file.ts'
import { createTurns } from './in-flight-limit.ts'

type Options = {
  /** `127.0.0.1:5353`. Default: those of the machine (`/etc/resolv.conf`). */
  nameservers?: readonly string[]
  hostsFile?: string
  /** For one name, with its wait for a turn. */
  timeoutMs?: number
  /** Names of one asker at once. */
  atOnce?: number
}

/** Twice as long for each further try: a dead nameserver is passed over in less than a second, and all ends in about 5 s. */
const firstTryMs = 750
const triesFor = (nameservers: number): number => (nameservers > 1 ? 2 : 3)

/** How much longer a name is waited for that has IPv4 addresses: some nameservers never answer for IPv6. */
const ipv6Ms = 300

/** After as long the machine's nameservers are read anew. */
const resolverMs = 60_000
const mostResolvers = 1_000

/**
 * Name resolution by the hosts file and DNS. The operating system's own (`dns.lookup`) takes one of a few threads for
 * as long as a nameserver is silent, and cannot be stopped: a script that fetches such names would keep all others from
 * connecting. Here each asker has a resolver and turns of its own.
 *
 * Equal names of an asker share one answer; nothing is kept, and each connection checks the addresses that it gets.
 */
export function createLookups(options: Options = {}): Resolve {
  const { nameservers, timeoutMs = 5_000, atOnce = 20 } = options
  const inHostsFile = createHostsFile(options.hostsFile)
  const turns = createTurns(atOnce)
  const resolvers = new Map<string, { resolver: Resolver; untilMs: number }>()
  const underWay = new Map<string, Promise<LookupAddress[]>>()

  return async (hostname, asker = '') => {
    const name = hostname.toLowerCase().replace(/\.$/, '')
    const local = await inHostsFile(name)
    if (local !== undefined) return local
    const key = JSON.stringify([asker, name])
    const lookup = underWay.get(key) ?? find(name, asker).finally(() => underWay.delete(key))
    underWay.set(key, lookup)
    return lookup
  }

  async function find(name: string, asker: string): Promise<LookupAddress[]> {
    const clock = AbortSignal.timeout(timeoutMs)
    const isOver = new Promise<never>((_, reject) => {
      clock.addEventListener('abort', () => reject(unresolved(name, 'EAI_AGAIN')), { once: true })
    })
    const answer = turns.take(asker, clock).then(async (endTurn) => {
      try {
        return await ask(resolverOf(asker), name)
      } finally {
        // The resolver has let go of the name, which may be later than its time is over.
        endTurn()
      }
    })
    return Promise.race([answer, isOver])
  }

  function resolverOf(asker: string): Resolver {
    const known = resolvers.get(asker)
    if (known !== undefined && known.untilMs > performance.now()) return known.resolver
    const { length } = nameservers ?? getServers()
    const resolver = new Resolver({ timeout: firstTryMs, tries: triesFor(length) })
    if (nameservers !== undefined) resolver.setServers(nameservers)
    storeNewest(resolvers, asker, { resolver, untilMs: performance.now() + resolverMs }, mostResolvers)
    return resolver
  }
}

type Found = { addresses: LookupAddress[]; code?: string }

/** IPv4 first: a machine without IPv6 loses no time. */
async function ask(resolver: Resolver, name: string): Promise<LookupAddress[]> {
  const ipv6 = toFound(resolver.resolve6(name), 6)
  const ipv4 = await toFound(resolver.resolve4(name), 4)
  const both = [ipv4, await (ipv4.addresses.length === 0 ? ipv6 : Promise.race([ipv6, soon()]))]
  const addresses = both.flatMap((found) => found.addresses)
  if (addresses.length > 0) return addresses
  const isAbsent = both.every(({ code }) => code === undefined || absent.has(code))
  throw unresolved(name, isAbsent ? 'ENOTFOUND' : 'EAI_AGAIN')
}

const toFound = (query: Promise<string[]>, family: 4 | 6): Promise<Found> =>
  query.then(
    (all) => ({ addresses: all.map((address) => ({ address, family })) }),
    ({ code = 'UNKNOWN' }: NodeJS.ErrnoException) => ({ addresses: [], code }),
  )

const soon = (): Promise<Found> => setTimeout(ipv6Ms, { addresses: [] }, { ref: false })

/** The name, or an address of it, is known not to be. */
const absent: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME'])

const unresolved = (name: string, code: string): NodeJS.ErrnoException =>
  Object.assign(new Error(`${name} was not resolved`), { code })
