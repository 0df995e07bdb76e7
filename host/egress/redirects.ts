import type { Readable } from 'node:stream'
import { AnnexError } from '../errors.ts'
import type { HeaderPairs } from './headers.ts'

export const maxRedirects = 20

/** One request of a chain of redirects. */
export type Hop = {
  method: string
  url: URL
  headers: HeaderPairs
  body: Uint8Array | Readable | undefined
  length?: number | undefined
}

/** True when an answer is a redirect. */
export const isRedirect = (status: number, location: string | undefined): location is string =>
  location !== undefined && [301, 302, 303, 307, 308].includes(status)

/**
 * The request that follows a redirect, by "HTTP-redirect fetch" of the fetch standard: 303, and 301 or 302 to a POST, become
 * a GET without body. Credentials are not sent to another URL origin.
 *
 * @throws AnnexError `egress_failed` when `location` is no URL
 */
export function nextHop(hop: Hop, status: number, location: string): Hop {
  // Header values are bytes; a Location is UTF-8.
  const url = URL.parse(Buffer.from(location, 'latin1').toString(), hop.url)
  if (url === null) {
    throw new AnnexError('egress_failed', `${hop.url.origin} redirects to a location that is no URL.`)
  }
  if (url.hash === '') url.hash = hop.url.hash
  const becomesGet =
    (status === 303 && hop.method !== 'GET' && hop.method !== 'HEAD') ||
    ((status === 301 || status === 302) && hop.method === 'POST')
  const dropped = new Set<string>([
    ...(becomesGet ? aboutTheBody : []),
    ...(url.origin === hop.url.origin ? [] : credentials),
  ])
  return {
    method: becomesGet ? 'GET' : hop.method,
    url,
    headers: hop.headers.filter(([name]) => !dropped.has(name.toLowerCase())),
    body: becomesGet ? undefined : hop.body,
  }
}

const aboutTheBody = ['content-encoding', 'content-language', 'content-location', 'content-type']
const credentials = ['authorization', 'cookie']
