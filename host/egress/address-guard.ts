import { AsyncLocalStorage } from 'node:async_hooks'
import type { LookupAddress } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import { buildConnector } from 'undici'
import { describeWrongEntry, parseAllowEntry, plainName } from '../config/setting.ts'
import { AnnexError } from '../errors.ts'
import { embeddedIPv4, isPublicAddress, rangeOf } from './public-address.ts'
import type { Resolve } from './resolver.ts'

/** The addresses that an operator allows although they are not public. */
export type AllowList = {
  /** True when the name itself is allowed, for any address. Case and a last dot do not matter. */
  hasName(hostname: string): boolean
  /** True when a connection to the address is allowed: the address is public, or in the list. */
  permits(address: string): boolean
}

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number]

/**
 * Parses the entries of EGRESS_ALLOW: host names, addresses, CIDR ranges.
 *
 * @throws AnnexError `settings_invalid` for any other entry
 */
export function parseAllowList(entries: readonly string[]): AllowList {
  const names = new Set<string>()
  const ranges: Range[] = []
  for (const entry of entries) {
    const parsed = parseAllowEntry(entry)
    if (parsed === undefined) {
      throw new AnnexError('settings_invalid', `EGRESS_ALLOW: ${describeWrongEntry(entry)}.`)
    }
    if ('name' in parsed) names.add(parsed.name)
    else ranges.push([ipaddr.parse(parsed.address), parsed.bits])
  }
  const isAllowed = (address: string): boolean => isPublicAddress(address) || isWithin(address, ranges)
  return {
    hasName: (hostname) => names.has(plainName(hostname)),
    // An operator may allow a NAT64 range, but each IPv4 address behind it is still checked.
    permits: (address) => isAllowed(address) && embeddedIPv4(address).every(isAllowed),
  }
}

function isWithin(address: string, ranges: readonly Range[]): boolean {
  if (isIP(address) === 0) return false
  const parsed = ipaddr.parse(address)
  return ranges.some(([base, bits]) => parsed.kind() === base.kind() && parsed.match(base, bits))
}

/** The options of a connection that undici does not know. */
export type ConnectOptions = {
  /** The organization that the request is for: see `Resolve`. */
  tenant?: string | undefined
}

/** undici's connectors take one `lookup` for all connections, so it finds the tenant here. */
const currentTenant = new AsyncLocalStorage<string | undefined>()

type Policy = {
  allow: AllowList
  resolve: Resolve
  /** True for the URL origin of Annex. */
  isOwn: (urlOrigin: string) => boolean
}

const connectTimeoutMs = 10_000

/**
 * The connect step of an undici agent. It resolves the name, checks the addresses and gives exactly these to the socket, so
 * that a name cannot change its address in between (DNS rebinding). TLS server name and Host stay the name.
 */
export function createGuardedConnect(policy: Policy): buildConnector.connector {
  const { allow, resolve, isOwn } = policy
  const open = buildConnector({ timeout: connectTimeoutMs, lookup: toLookup(resolve) })
  const guarded = buildConnector({
    timeout: connectTimeoutMs,
    lookup: toLookup((hostname, tenant) => resolveChecked(hostname, allow, () => resolve(hostname, tenant))),
  })
  return (options: buildConnector.Options & ConnectOptions, callback) => {
    const { hostname, protocol, host, tenant } = options
    const isOpen = isOwn(`${protocol}//${host}`) || allow.hasName(hostname)
    // A socket calls `lookup` for names only, so an address is checked here.
    if (isOpen || isIP(hostname) === 0 || allow.permits(hostname)) {
      return currentTenant.run(tenant, () => (isOpen ? open : guarded)(options, callback))
    }
    process.nextTick(callback, refusedAddress(hostname), null)
  }
}

/**
 * Resolves a name, and refuses it when any of its addresses is not allowed. The socket may take any of them, and a mix of
 * public and private addresses is a known attack.
 *
 * @throws AnnexError `egress_refused`. The text does not name the address: a script must not learn the addresses of an
 *   inner network.
 */
export async function resolveChecked(
  hostname: string,
  allow: AllowList,
  resolve: Resolve,
): Promise<LookupAddress[]> {
  const addresses = await resolve(hostname)
  if (addresses.every(({ address }) => allow.permits(address))) return addresses
  throw new AnnexError(
    'egress_refused',
    `The name ${hostname} resolves to a private address, which requests from here may not reach. ` +
      `The operator can allow it: EGRESS_ALLOW=${hostname}`,
  )
}

function refusedAddress(address: string): AnnexError {
  return new AnnexError(
    'egress_refused',
    `The address ${address} is not public (${rangeOf(address)}), and requests from here may not reach it. ` +
      `The operator can allow it: EGRESS_ALLOW=${address}`,
  )
}

function toLookup(resolve: Resolve): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, currentTenant.getStore()).then(
      (addresses) => {
        const [first] = addresses
        if (first === undefined) callback(noAddress(hostname), [])
        else if (options.all) callback(null, addresses)
        else callback(null, first.address, first.family)
      },
      (error: NodeJS.ErrnoException) => callback(error, []),
    )
  }
}

const noAddress = (hostname: string): NodeJS.ErrnoException =>
  Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND' })
