import { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import { AnnexError, isAnnexError } from '../errors.ts'
import type { OutboundOptions } from './agent.ts'
import { readBody, streamBody } from './answer-body.ts'
import type { Egress } from './egress.ts'
import { isConnectionLost, toEgressError } from './egress-error.ts'
import { createDeadline, type Deadline, limitOverhead } from './fetch-limits.ts'
import {
  type HeaderPairs,
  headerValue,
  toPairs,
  toRequestHeaders,
  withoutConnectionHeaders,
} from './headers.ts'
import { nextHops } from './loop-guard.ts'
import type { NoteRequest } from './outbound-requests.ts'
import { parseOutboundUrl } from './outbound-url.ts'
import { type Hop, isRedirect, maxRedirects, nextHop } from './redirects.ts'

/** A request of a script. `url` is absolute. */
export type EgressRequest = {
  method: string
  url: string
  headers: HeaderPairs
  body?: Uint8Array | Readable | undefined
  /** The length of a streamed body in bytes, when it is known. */
  length?: number
  /** The script holds the bytes of the streamed body, and can send them again. */
  isRepeatable?: boolean
  redirect: 'follow' | 'manual' | 'error'
  /** The redirects that led here. */
  redirects?: number
}

export type EgressLimits = {
  /** From the connection to the head of the answer, with redirects, or to the end of a body that is read whole. */
  timeoutMs: number
  /** Of the answer's body, on the wire and decompressed. */
  maxBytes: number
  /** The count of the request that caused the dispatch: see `createHops`. */
  hops: number
  /** The organization that the request is for: see `Resolve`. */
  tenant?: string | undefined
  /** Called for the first URL and for each redirect. Throws when the script may not reach the URL. */
  assertAllowed?: ((url: URL) => void) | undefined
  /** Aborts when the dispatch ends. */
  signal?: AbortSignal | undefined
  note?: NoteRequest | undefined
}

/**
 * `url` is that of the last redirect, without its fragment. A short body of known length is read whole, into memory that it
 * shares with no other. Any other body is a stream, which the caller must read or destroy.
 */
export type EgressAnswer = {
  status: number
  statusText: string
  headers: HeaderPairs
  url: string
  redirected: boolean
  body: Uint8Array | Readable
  /** The request that the script makes next, after a redirect that keeps its streamed body. */
  repeat?: Omit<EgressRequest, 'body'>
}

/**
 * Sends a request of a script and reads the answer, within limits. The guard checks each connection. Redirects are followed
 * here, so that each of them is checked as well.
 *
 * @throws AnnexError `bad_request`, `egress_refused`, `egress_loop`, `egress_timeout`, `egress_too_large`,
 *   `egress_failed`
 */
export async function egressFetch(
  egress: Egress,
  request: EgressRequest,
  limits: EgressLimits,
): Promise<EgressAnswer> {
  limits.note?.begin(request.method, request.url)
  try {
    return await fetchChecked(egress, request, limits)
  } catch (error) {
    if (isAnnexError(error)) limits.note?.failed(error)
    throw error
  }
}

async function fetchChecked(
  egress: Egress,
  request: EgressRequest,
  limits: EgressLimits,
): Promise<EgressAnswer> {
  const hops = nextHops(limits.hops)
  let hop = firstHop(egress, request)
  limits.assertAllowed?.(hop.url)
  const what = `${hop.method} ${hop.url.origin}`
  const deadline = createDeadline(limits.timeoutMs, what, limits.signal)
  try {
    for (let redirects = request.redirects ?? 0; ; redirects += 1) {
      const response = await Promise.race([send(egress, hop, hops, deadline, limits.tenant), deadline.isOver])
      limits.note?.answered(response.status, headerValue(response.headers, 'x-request-id'))
      const location = headerValue(response.headers, 'location')
      if (request.redirect === 'manual' || !isRedirect(response.status, location)) {
        return await toAnswer(response, hop, redirects > 0, limits.maxBytes, what)
      }
      abandon(response.body)
      if (request.redirect === 'error' || redirects === maxRedirects) throw badRedirect(what, redirects)
      hop = nextHop(hop, response.status, location)
      if (hop.body instanceof Readable) {
        hop.body.destroy()
        if (request.isRepeatable !== true) throw badRedirect(what, redirects, sentOnce)
        return toRepeat(response, hop, { ...request, redirects: redirects + 1 })
      }
      limits.note?.begin(hop.method, hop.url.href)
      parseOutboundUrl(hop.url.href, egress)
      limits.assertAllowed?.(hop.url)
    }
  } catch (error) {
    throw toEgressError(error, what)
  } finally {
    deadline.end()
  }
}

function firstHop(egress: Egress, request: EgressRequest): Hop {
  const method = request.method.toUpperCase()
  if (['CONNECT', 'TRACE', 'TRACK'].includes(method)) {
    throw new AnnexError('bad_request', `A fetch cannot use the method ${method}.`)
  }
  return {
    method,
    url: parseOutboundUrl(request.url, egress),
    headers: request.headers,
    body: request.body,
    length: request.length,
  }
}

type Response = {
  status: number
  statusText: string
  headers: HeaderPairs
  body: Dispatcher.ResponseData['body']
}

async function send(
  egress: Egress,
  hop: Hop,
  hops: number,
  deadline: Deadline,
  tenant: string | undefined,
): Promise<Response> {
  const overhead = limitOverhead(`${hop.method} ${hop.url.origin}`, deadline.breakOff)
  const options: Dispatcher.RequestOptions & OutboundOptions = {
    origin: hop.url.origin,
    path: hop.url.pathname + hop.url.search,
    method: hop.method,
    headers: [...toRequestHeaders(hop.headers, hop.url, egress, hops), ...lengthOf(hop)].flat(),
    body: hop.body ?? null,
    signal: deadline.signal,
    // A flat list of names and values, in which repeats of a header stay apart. The types do not know it.
    responseHeaders: 'raw',
    tenant,
    observer: overhead.observer,
  }
  const sent = egress.dispatcher.request(options).catch((error: unknown) => {
    if (!isConnectionLost(error) || !overhead.isUnheard() || !isRepeatable(hop)) throw error
    const again: Dispatcher.RequestOptions & OutboundOptions = { ...options, isFresh: true }
    return egress.dispatcher.request(again)
  })
  const { statusCode, statusText, headers, body } = await sent
  overhead.countBody(body)
  return { status: statusCode, statusText, headers: toPairs(headers as unknown as string[]), body }
}

async function toAnswer(
  response: Response,
  hop: Hop,
  redirected: boolean,
  maxBytes: number,
  what: string,
): Promise<EgressAnswer> {
  const encoding = headerValue(response.headers, 'content-encoding')
  const isShort = Number(headerValue(response.headers, 'content-length') ?? Infinity) <= wholeBytes
  const { body, isDecoded } = hasNoBody(response.status, hop.method)
    ? { body: readNothing(response.body), isDecoded: false }
    : isShort && encoding === undefined
      ? { body: await readBody(response.body, maxBytes), isDecoded: false }
      : streamBody(response.body, encoding, maxBytes, what)
  const headers = withoutConnectionHeaders(response.headers)
  const url = new URL(hop.url)
  url.hash = ''
  return {
    status: response.status,
    statusText: response.statusText,
    // They describe the compressed body. A script that passes the answer on would promise them to its visitor.
    headers: isDecoded ? headers.filter(([name]) => !aboutCoding.test(name)) : headers,
    url: url.href,
    redirected,
    body,
  }
}

/** Without it undici sends a stream in chunks, and some servers refuse chunks. */
const lengthOf = ({ body, length }: Hop): HeaderPairs =>
  body instanceof Readable && length !== undefined ? [['content-length', `${length}`]] : []

/** RFC 9110, 9.2.2: such a request may be sent again when a kept connection turns out to be closed. */
const isRepeatable = ({ method, body }: Hop): boolean =>
  ['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'].includes(method) && !(body instanceof Readable)

/** RFC 9110, 6.4.1. */
const hasNoBody = (status: number, method: string): boolean =>
  method === 'HEAD' || status === 204 || status === 304

/** undici takes a length beside no body for a body that is cut off, and closes the connection. */
function readNothing(body: Response['body']): Uint8Array {
  body.on('error', () => {}).resume()
  return new Uint8Array(0)
}

/** A longer body is streamed. */
const wholeBytes = 64 * 1024

const aboutCoding = /^content-(encoding|length)$/i

/** Reads the rest of a redirect's body when it is short, to keep the connection; otherwise closes the connection. */
function abandon(body: Response['body']): void {
  body.dump({ limit: 16_384, signal: AbortSignal.timeout(1_000) }).catch(() => {})
}

function toRepeat(
  { status, statusText }: Response,
  { method, headers, url }: Hop,
  { body: _, ...rest }: EgressRequest,
): EgressAnswer {
  const repeat = { ...rest, method, headers, url: url.href }
  return { status, statusText, headers: [], url: url.href, redirected: true, body: new Uint8Array(0), repeat }
}

/** Fetch standard, "HTTP-redirect fetch". */
const sentOnce =
  'it was redirected with its body, and a stream is sent only once. Read it first, with new Response(stream).arrayBuffer()'

function badRedirect(what: string, redirects: number, because = 'it was redirected'): AnnexError {
  const reason = redirects === maxRedirects ? `more than ${maxRedirects} redirects` : because
  return new AnnexError('egress_failed', `${what} failed: ${reason}.`)
}
