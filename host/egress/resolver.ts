import type { LookupAddress } from 'node:dns'
import { getServers, Resolver } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { cacheReads, createLru } from '../cache.ts'
import { createInFlightLimit } from './in-flight-limit.ts'

/**
 * All addresses of a host name. Rejects with `ENOTFOUND` or `EAI_AGAIN`, as `dns.promises.lookup` does.
 *
 * @param tenant the organization that the request is for; its lookups do not delay those of other organizations
 */
export type Resolve = (hostname: string, tenant?: string) => Promise<LookupAddress[]>

type Options = {
  /** `127.0.0.1:5353`. Default: those of the machine (`/etc/resolv.conf`). */
  nameservers?: readonly string[]
  hostsFile?: string
  /** For one name, with its wait behind others. */
  timeoutMs?: number
  /** Lookups of one tenant in flight. */
  inFlight?: number
}

/** Each further try waits twice as long: a dead nameserver costs less than a second, and all tries end in about 5 s. */
const firstTryMs = 750
const triesFor = (nameservers: number): number => (nameservers > 1 ? 2 : 3)

/** A name with IPv4 addresses waits this much longer for IPv6, as some nameservers never answer for IPv6. */
const ipv6Ms = 300

/** The machine's nameservers are read again after this time. */
const resolverMs = 60_000
const mostResolvers = 1_000

/**
 * Resolves names by the hosts file and DNS. `dns.lookup` of the operating system blocks one of a few threads while a
 * nameserver is silent: a script with such names would keep all others from connecting. Here each tenant has a resolver
 * and an in-flight limit.
 *
 * Simultaneous lookups of one name by one tenant share an answer. No answer is cached.
 */
export function createResolver(options: Options = {}): Resolve {
  const { nameservers, timeoutMs = 5_000, inFlight = 20 } = options
  const inHostsFile = createHostsFile(options.hostsFile)
  const limit = createInFlightLimit(inFlight)
  const resolvers = createLru<Resolver>(mostResolvers, { ttl: resolverMs, ttlResolution: 0 })
  const lookups = new Map<string, Promise<LookupAddress[]>>()

  return async (hostname, tenant = '') => {
    const name = hostname.toLowerCase().replace(/\.$/, '')
    const local = await inHostsFile(name)
    if (local !== undefined) return local
    const key = JSON.stringify([tenant, name])
    const lookup = lookups.get(key) ?? find(name, tenant).finally(() => lookups.delete(key))
    lookups.set(key, lookup)
    return lookup
  }

  async function find(name: string, tenant: string): Promise<LookupAddress[]> {
    const deadline = AbortSignal.timeout(timeoutMs)
    const isOver = new Promise<never>((_, reject) => {
      deadline.addEventListener('abort', () => reject(unresolved(name, 'EAI_AGAIN')), { once: true })
    })
    const answer = limit.enter(tenant, deadline).then(async (leave) => {
      try {
        return await query(resolverOf(tenant), name)
      } finally {
        // The resolver may be busy with the name for longer than its deadline.
        leave()
      }
    })
    return Promise.race([answer, isOver])
  }

  function resolverOf(tenant: string): Resolver {
    const known = resolvers.get(tenant)
    if (known !== undefined) return known
    const { length } = nameservers ?? getServers()
    const resolver = new Resolver({ timeout: firstTryMs, tries: triesFor(length) })
    if (nameservers !== undefined) resolver.setServers(nameservers)
    resolvers.set(tenant, resolver)
    return resolver
  }
}

type Found = { addresses: LookupAddress[]; code?: string }

/** IPv4 first: a machine without IPv6 loses no time. */
async function query(resolver: Resolver, name: string): Promise<LookupAddress[]> {
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

/** The name does not exist, or has no address of this family. */
const absent: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME'])

const unresolved = (name: string, code: string): NodeJS.ErrnoException =>
  Object.assign(new Error(`${name} was not resolved`), { code })

/** The addresses of a name in the hosts file, `undefined` for a name that is not in it. */
type HostsFile = (name: string) => Promise<LookupAddress[] | undefined>

/** RFC 6761, 6.3: such a name never leaves the machine. */
const loopback: LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

/** The file is cached for one second. A file that cannot be read counts as empty. */
function createHostsFile(path = '/etc/hosts'): HostsFile {
  const { get } = cacheReads({
    keyOf: (path: string) => path,
    read: async (path) => parseHosts(await readFile(path, 'utf8').catch(() => '')),
  })
  return async (name) => {
    const found = (await get(path)).get(name)
    return found ?? (name === 'localhost' || name.endsWith('.localhost') ? loopback : undefined)
  }
}

function parseHosts(text: string): Map<string, LookupAddress[]> {
  const hosts = new Map<string, LookupAddress[]>()
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/)
    const family = isIP(address)
    if (family === 0) continue
    for (const name of new Set(names)) {
      const known = hosts.get(name) ?? []
      if (known.every((other) => other.address !== address)) hosts.set(name, [...known, { address, family }])
    }
  }
  return hosts
}
