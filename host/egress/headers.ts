import type { Egress } from './egress.ts'
import { hopsHeader } from './loop-guard.ts'

export type HeaderPairs = [string, string][]

/** About one connection (RFC 9110 section 7.6.1), or made by the HTTP client itself. */
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
 * The headers of a script's request as they leave: what is about the connection is dropped, and so is every
 * `x-annex-` header, which only Annex itself may set. What a fetch sends by default is added.
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

/** An answer's headers, names in lower case as `Headers` has them, without those about the connection. */
export const toAnswerHeaders = (raw: HeaderPairs): HeaderPairs =>
  raw
    .map(([name, value]): [string, string] => [name.toLowerCase(), value])
    .filter(([name]) => !ofTheConnection.has(name) && !name.startsWith('proxy-'))

/** Pairs from undici's flat list of names and values, which are bytes where they come from its parser. */
export function toPairs(flat: readonly (string | Buffer)[]): HeaderPairs {
  const pairs: HeaderPairs = []
  for (let at = 0; at + 1 < flat.length; at += 2) pairs.push([toText(flat[at]), toText(flat[at + 1])])
  return pairs
}

/** The list that undici takes. */
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
  // A request to Annex's own address goes round the reverse proxy in front of it, which would have set these:
  // a script could name itself another client.
  return !(own && (name === 'forwarded' || name === 'x-real-ip' || name.startsWith('x-forwarded-')))
}
