import type { Egress } from './egress.ts'
import { hopsHeader } from './loop-guard.ts'

export type HeaderPairs = [string, string][]

/** Headers about one connection (RFC 9110 section 7.6.1), and those that the HTTP client makes. */
const ofTheConnection: ReadonlySet<string> = new Set([
  'connection',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/**
 * The headers of a script's request as they are sent. Headers about the connection are dropped, and so is every `x-annex-`
 * header, which only Annex may set. The default headers of a fetch are added.
 */
export function toRequestHeaders(given: HeaderPairs, url: URL, egress: Egress, hops: number): HeaderPairs {
  const own = egress.isOwn(url.origin)
  const headers = given.filter(([name]) => isAllowed(name.toLowerCase(), own))
  const has = (name: string): boolean => headers.some(([other]) => other.toLowerCase() === name)
  if (!has('accept')) headers.push(['accept', '*/*'])
  if (!has('user-agent')) headers.push(['user-agent', egress.userAgent])
  // A part of a compressed body cannot be decompressed (fetch standard, "HTTP-network-or-cache fetch").
  headers.push(['accept-encoding', has('range') ? 'identity' : 'gzip, deflate, br'])
  headers.push([hopsHeader, egress.writeHops(hops)])
  return headers
}

/** The headers of an answer without those about the connection. Names are in lower case, as in `Headers`. */
export const withoutConnectionHeaders = (raw: HeaderPairs): HeaderPairs =>
  raw
    .map(([name, value]): [string, string] => [name.toLowerCase(), value])
    .filter(([name]) => !ofTheConnection.has(name) && !name.startsWith('proxy-'))

/** Pairs from undici's flat list of names and values. Its parser gives them as bytes. */
export function toPairs(flat: readonly (string | Buffer)[]): HeaderPairs {
  const pairs: HeaderPairs = []
  for (let at = 0; at + 1 < flat.length; at += 2) pairs.push([toText(flat[at]), toText(flat[at + 1])])
  return pairs
}

/** The flat list that undici takes. */
export function toFlat(pairs: HeaderPairs): string[] {
  const flat: string[] = []
  for (const [name, value] of pairs) flat.push(name, value)
  return flat
}

const toText = (part: string | Buffer = ''): string =>
  typeof part === 'string' ? part : part.toString('latin1')

export const headerValue = (headers: HeaderPairs, name: string): string | undefined =>
  headers.find(([other]) => other.toLowerCase() === name)?.[1]

function isAllowed(name: string, own: boolean): boolean {
  if (ofTheConnection.has(name) || name === 'content-length' || name === 'accept-encoding') return false
  if (name.startsWith('proxy-') || name.startsWith('x-annex-')) return false
  // A request to Annex's own address bypasses the reverse proxy that sets these headers. With them a script could pose as
  // another client.
  return !(own && (name === 'forwarded' || name === 'x-real-ip' || name.startsWith('x-forwarded-')))
}
