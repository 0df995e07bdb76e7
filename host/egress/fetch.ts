import { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import { AnnexError } from '../errors/annex-error.ts'
import type { Observed } from './agent.ts'
import { streamBody } from './answer-body.ts'
import { boundBesideBody } from './beside-body.ts'
import { createDeadline, type Deadline } from './deadline.ts'
import type { Egress } from './egress.ts'
import { isConnectionLost, toEgressError } from './egress-error.ts'
import { type HeaderPairs, headerValue, toAnswerHeaders, toPairs, toRequestHeaders } from './headers.ts'
import { nextHops } from './loop-guard.ts'
import { readBody } from './read-body.ts'
import { type Hop, isRedirect, maxRedirects, nextHop } from './redirects.ts'
import { parseTarget } from './target.ts'

/** What a script asks for. `url` is absolute. */
export type EgressRequest = {
  method: string
  url: string
  headers: HeaderPairs
  body?: Uint8Array | Readable | undefined
  /** Of a body that is a stream, in bytes, when it is known. */
  length?: number
  /** The script has the bytes of a body that is a stream here, and can send them once more. */
  isRepeatable?: boolean
  redirect: 'follow' | 'manual' | 'error'
  /** How many redirects have led here. */
  redirects?: number
}

export type EgressLimits = {
  /** From connecting to the head of the answer, redirects included, and to the end of a body that is read whole. */
  timeoutMs: number
  /** Of the answer's body, on the wire and decompressed. */
  maxBytes: number
  /** The count that the dispatch came in with: `readHops` of its request, 0 without one. */
  hops: number
  /** On whose behalf: see `Resolve`. */
  asker?: string | undefined
  /** Looks at the first URL, and at that of each redirect. Throws when the script may not reach it. */
  assertAllowed?: ((url: URL) => void) | undefined
  /** Ends the request when the dispatch that asked for it ends. */
  signal?: AbortSignal | undefined
}

/**
 * `url` is the last one of the redirects, without its fragment. A short body of known length is there whole, with
 * memory of its own; any other is a stream, which is read or destroyed by whoever takes the answer.
 */
export type EgressAnswer = {
  status: number
  statusText: string
  headers: HeaderPairs
  url: string
  redirected: boolean
  body: Uint8Array | Readable
  /** Of a redirect that keeps a body of which the script has the bytes: the request that it makes next. */
  repeat?: Omit<EgressRequest, 'body'>
}

/**
 * An outbound request for a script: checked at each connection, redirects followed here so that each is checked
 * as well, the answer decompressed, all within limits.
 *
 * @throws AnnexError `bad_request`, `egress_refused`, `egress_loop`, `egress_timeout`, `egress_too_large`,
 *   `egress_failed`
 */
export async function egressFetch(
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
      const response = await Promise.race([send(egress, hop, hops, deadline, limits.asker), deadline.isOver])
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
      parseTarget(hop.url.href, egress)
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
    url: parseTarget(request.url, egress),
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
  asker: string | undefined,
): Promise<Response> {
  const beside = boundBesideBody(`${hop.method} ${hop.url.origin}`, deadline.breakOff)
  const options: Dispatcher.RequestOptions & Observed = {
    origin: hop.url.origin,
    path: hop.url.pathname + hop.url.search,
    method: hop.method,
    headers: [...toRequestHeaders(hop.headers, hop.url, egress, hops), ...lengthOf(hop)].flat(),
    body: hop.body ?? null,
    signal: deadline.signal,
    // A list of names and values, which the types do not know: repeats of a header stay apart.
    responseHeaders: 'raw',
    asker,
    observer: beside.observer,
  }
  const sent = egress.dispatcher.request(options).catch((error: unknown) => {
    if (!isConnectionLost(error) || !beside.isUnheard() || !isRepeatable(hop)) throw error
    const again: Dispatcher.RequestOptions & Observed = { ...options, isFresh: true }
    return egress.dispatcher.request(again)
  })
  const { statusCode, statusText, headers, body } = await sent
  beside.countBody(body)
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
  const { body, isDecoded } =
    (isShort && encoding === undefined) || hasNoBody(response.status, hop.method)
      ? { body: await readBody(response.body, maxBytes), isDecoded: false }
      : streamBody(response.body, encoding, maxBytes, what)
  const headers = toAnswerHeaders(response.headers)
  const url = new URL(hop.url)
  url.hash = ''
  return {
    status: response.status,
    statusText: response.statusText,
    // A script that hands the answer on would otherwise promise a length and an encoding that are gone.
    headers: isDecoded ? headers.filter(([name]) => !aboutCoding.test(name)) : headers,
    url: url.href,
    redirected,
    body,
  }
}

/** Without it undici sends a stream in chunks, which not every server takes. */
const lengthOf = ({ body, length }: Hop): HeaderPairs =>
  body instanceof Readable && length !== undefined ? [['content-length', `${length}`]] : []

/** A kept connection may have died unseen. RFC 9110, 9.2.2: such a request may be sent once more. */
const isRepeatable = ({ method, body }: Hop): boolean =>
  ['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'].includes(method) && !(body instanceof Readable)

/** RFC 9110, 6.4.1. */
const hasNoBody = (status: number, method: string): boolean =>
  method === 'HEAD' || status === 204 || status === 304

/** A longer body crosses in pieces. */
const wholeBytes = 64 * 1024

const aboutCoding = /^content-(encoding|length)$/i

/** Reads the rest of a redirect's body when it is short, to keep the connection; else ends the connection. */
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
