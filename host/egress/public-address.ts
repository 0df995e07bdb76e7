import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** True for an address of the public internet: see `rangeOf`. */
export const isPublicAddress = (address: string): boolean => rangeOf(address) === 'public'

/**
 * The range of an address: `public`, or the name of a range that is out of reach (`loopback`, `private`, `link local` with the
 * usual metadata service, `rfc6052` for NAT64 …). Only the plain spellings of `net.isIP` are addresses; any other text is
 * `no address`, and so not public.
 *
 * The IPv4 address inside an IPv6 address is checked as well: a translator sends the packets there.
 */
export function rangeOf(address: string): string {
  if (isIP(address) === 0) return 'no address'
  if (address.includes('%')) return 'scoped'
  const parsed = ipaddr.parse(address)
  if (parsed instanceof ipaddr.IPv4) return rangeOfIPv4(parsed)
  const range = parsed.range()
  if (range !== 'unicast') return inWords(range)
  // IANA assigns global addresses from 2000::/3 only. Outside of it, an address that ipaddr.js calls unicast is
  // IPv4-compatible (::10.0.0.1), or unassigned.
  if (!parsed.match(globalUnicast)) return 'not global'
  return embeddedIPv4(address).every(isPublicAddress) ? 'public' : 'tunnel to a special address'
}

/**
 * The IPv4 addresses inside an IPv6 address: none, one by the layout of its range, or both where two layouts are possible.
 */
export function embeddedIPv4(address: string): string[] {
  if (isIP(address) !== 6) return []
  const parsed = ipaddr.parse(address)
  if (!(parsed instanceof ipaddr.IPv6)) return []
  const bytes = parsed.toByteArray()
  const at = (...offsets: number[]): string => offsets.map((offset) => bytes[offset] ?? 0).join('.')
  const last = at(12, 13, 14, 15)
  switch (parsed.range()) {
    case 'ipv4Mapped':
    case 'rfc6145':
      return [last]
    case 'rfc6052':
      // The /48 of RFC 8215 may be cut as /96, or as RFC 6052 section 2.2 cuts a /48, around byte 8.
      return parsed.match(localNat64) ? [last, at(6, 7, 9, 10)] : [last]
    case '6to4':
      return [at(2, 3, 4, 5)]
    case 'teredo':
      // The server, and the client with all bits inverted (RFC 4380 section 4).
      return [at(4, 5, 6, 7), [12, 13, 14, 15].map((offset) => (bytes[offset] ?? 0) ^ 0xff).join('.')]
    case 'loopback':
    case 'unspecified':
      return []
    default:
      if (parsed.match(ipv4Compatible)) return [last]
      // ISATAP (RFC 5214): the interface identifier is 0:5efe or 200:5efe and the IPv4 address.
      if (['00005efe', '02005efe'].includes(hex(bytes.slice(8, 12)))) return [last]
      return []
  }
}

const globalUnicast = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number]
const ipv4Compatible = ipaddr.parseCIDR('::/96') as [ipaddr.IPv6, number]
const localNat64 = ipaddr.parseCIDR('64:ff9b:1::/48') as [ipaddr.IPv6, number]

function rangeOfIPv4(parsed: ipaddr.IPv4): string {
  // Azure's metadata service and wire server, inside a public range.
  if (parsed.toString() === '168.63.129.16') return 'metadata'
  const range = parsed.range()
  return range === 'unicast' ? 'public' : inWords(range)
}

const hex = (bytes: number[]): string => bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')

const inWords = (range: string): string => range.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
