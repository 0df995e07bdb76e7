import { isIP } from 'node:net'
import { domainToASCII } from 'node:url'
import ipaddr from 'ipaddr.js'
import { AnnexError } from '../../errors/annex-error.ts'
import { embeddedIPv4, isPublicAddress } from './public-address.ts'

/** What an operator lets scripts and webhooks reach although it is not public. */
export type AllowList = {
  /** Whether the name itself is allowed, wherever it resolves to. Case and a last dot do not matter. */
  hasName(hostname: string): boolean
  /** Whether a connection to the address is allowed: it is public, or in the list. */
  permits(address: string): boolean
}

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number]

/**
 * Reads the entries of EGRESS_ALLOW: host names, addresses, CIDR ranges.
 *
 * @throws AnnexError `settings_invalid` for an entry that is none of these
 */
export function parseAllowList(entries: readonly string[]): AllowList {
  const names = new Set<string>()
  const ranges: Range[] = []
  for (const entry of entries) {
    const range = parseRange(entry)
    if (range !== undefined) ranges.push(range)
    else names.add(parseName(entry))
  }
  const isFine = (address: string): boolean => isPublicAddress(address) || isWithin(address, ranges)
  return {
    hasName: (hostname) => names.has(plainName(hostname)),
    // An operator may allow a NAT64 range, but what lies behind it is judged all the same.
    permits: (address) => isFine(address) && embeddedIPv4(address).every(isFine),
  }
}

function parseRange(entry: string): Range | undefined {
  const [base = '', bits, ...rest] = entry.replaceAll(/[[\]]/g, '').split('/')
  if (isIP(base) === 0 || base.includes('%')) return undefined
  if (bits === undefined) return [ipaddr.parse(base), isIP(base) === 4 ? 32 : 128]
  const cidr = `${base}/${bits}`
  return rest.length === 0 && ipaddr.isValidCIDR(cidr) ? ipaddr.parseCIDR(cidr) : undefined
}

function parseName(entry: string): string {
  const name = plainName(domainToASCII(entry))
  // A last label of digits would make the URL parser read it as an address, so it can never match.
  if (/^([a-z0-9_-]+\.)*[a-z_-][a-z0-9_-]*$/.test(name)) return name
  throw new AnnexError(
    'settings_invalid',
    `EGRESS_ALLOW: "${entry}" is no host name, address or CIDR range. Write for example ` +
      '"ci.internal", "10.1.2.3" or "10.1.0.0/16", without scheme, port or path.',
  )
}

const plainName = (hostname: string): string => hostname.toLowerCase().replace(/\.$/, '')

function isWithin(address: string, ranges: readonly Range[]): boolean {
  if (isIP(address) === 0) return false
  const parsed = ipaddr.parse(address)
  return ranges.some(([base, bits]) => parsed.kind() === base.kind() && parsed.match(base, bits))
}
