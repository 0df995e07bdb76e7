import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Whether an address is one that anybody on the internet may be: see `rangeOf`. */
export const isPublicAddress = (address: string): boolean => rangeOf(address) === 'public'

/**
 * Where an address lies: `public`, or the name of what takes it out of reach (`loopback`, `private`,
 * `link local` with the usual metadata service, `rfc6052` for NAT64 …). Only the plain spellings that
 * `net.isIP` knows are addresses here; anything else is `no address`, and so not public.
 *
 * An address that carries an IPv4 address is judged by that one as well: behind a translator it is where the
 * packets end.
 */
export function rangeOf(address: string): string {
  if (isIP(address) === 0) return 'no address'
  if (address.includes('%')) return 'scoped'
  const parsed = ipaddr.parse(address)
  if (parsed instanceof ipaddr.IPv4) return rangeOfIPv4(parsed)
  const range = parsed.range()
  if (range !== 'unicast') return inWords(range)
  // IANA gives out global addresses from 2000::/3 only. What ipaddr.js calls unicast outside of it is
  // IPv4-compatible (::10.0.0.1), or not assigned to anybody.
  if (!parsed.match(globalUnicast)) return 'not global'
  return embeddedIPv4(address).every(isPublicAddress) ? 'public' : 'tunnel to a special address'
}

/**
 * The IPv4 addresses that an IPv6 address carries: none, the one that its kind has room for, or both where two
 * layouts are possible.
 */
export function embeddedIPv4(address: string): string[] {
  if (isIP(address) !== 6) return []
  const parsed = ipaddr.parse(address)
  if (!(parsed instanceof ipaddr.IPv6)) return []
  const bytes = parsed.toByteArray()
  const at = (...places: number[]): string => places.map((place) => bytes[place] ?? 0).join('.')
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
      // The server, and the client with each bit turned round (RFC 4380 section 4).
      return [at(4, 5, 6, 7), [12, 13, 14, 15].map((place) => (bytes[place] ?? 0) ^ 0xff).join('.')]
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
  // Azure answers its machines' metadata and wire server calls here, inside a range that looks public.
  if (parsed.toString() === '168.63.129.16') return 'metadata'
  const range = parsed.range()
  return range === 'unicast' ? 'public' : inWords(range)
}

const hex = (bytes: number[]): string => bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')

const inWords = (range: string): string => range.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
