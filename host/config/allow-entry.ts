import { isIP } from 'node:net'
import { domainToASCII } from 'node:url'

/** An entry of EGRESS_ALLOW: a name, or as many addresses as begin with the same bits. */
export type AllowEntry = { name: string } | { address: string; bits: number }

/** @returns nothing for what is neither host name, address nor CIDR range */
export function parseAllowEntry(entry: string): AllowEntry | undefined {
  const [address = '', bits, ...rest] = entry.replaceAll(/[[\]]/g, '').split('/')
  const family = address.includes('%') ? 0 : isIP(address)
  if (family === 0) {
    const name = parseHostName(entry)
    return name === undefined ? undefined : { name }
  }
  const most = family === 4 ? 32 : 128
  if (bits === undefined) return { address, bits: most }
  return rest.length === 0 && /^\d+$/.test(bits) && Number(bits) <= most
    ? { address, bits: Number(bits) }
    : undefined
}

/** What is wrong with an entry that is none. */
export const describeWrongEntry = (entry: string): string =>
  `"${entry}" is no host name, address or CIDR range. Write for example "ci.internal", "10.1.2.3" or "10.1.0.0/16", ` +
  'without scheme, port or path'

/** @returns the name in ASCII and small letters, or nothing when it can be none */
export function parseHostName(text: string): string | undefined {
  const name = plainName(domainToASCII(text))
  // A last label of digits would make the URL parser read it as an address, so it can never match.
  return /^([a-z0-9_-]+\.)*[a-z_-][a-z0-9_-]*$/.test(name) ? name : undefined
}

/** Case and a last dot do not matter. */
export const plainName = (hostname: string): string => hostname.toLowerCase().replace(/\.$/, '')
