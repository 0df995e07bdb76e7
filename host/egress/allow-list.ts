import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { describeWrongEntry, parseAllowEntry, plainName } from '../config/allow-entry.ts'
import { AnnexError } from '../errors/annex-error.ts'
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
    const parsed = parseAllowEntry(entry)
    if (parsed === undefined) {
      throw new AnnexError('settings_invalid', `EGRESS_ALLOW: ${describeWrongEntry(entry)}.`)
    }
    if ('name' in parsed) names.add(parsed.name)
    else ranges.push([ipaddr.parse(parsed.address), parsed.bits])
  }
  const isFine = (address: string): boolean => isPublicAddress(address) || isWithin(address, ranges)
  return {
    hasName: (hostname) => names.has(plainName(hostname)),
    // An operator may allow a NAT64 range, but what lies behind it is judged all the same.
    permits: (address) => isFine(address) && embeddedIPv4(address).every(isFine),
  }
}

function isWithin(address: string, ranges: readonly Range[]): boolean {
  if (isIP(address) === 0) return false
  const parsed = ipaddr.parse(address)
  return ranges.some(([base, bits]) => parsed.kind() === base.kind() && parsed.match(base, bits))
}
