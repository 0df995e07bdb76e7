import type { Egress } from '../egress/egress.ts'
import { toEgressError } from '../egress/egress-error.ts'
import { type Answer, exchange, type Timing } from '../egress/exchange.ts'
import { type HeaderPairs, headerValue } from '../egress/headers.ts'
import { hopsHeader, nextHops } from '../egress/loop-guard.ts'
import { parseOutboundUrl } from '../egress/outbound-url.ts'
import type { AnnexError, ErrorCode } from '../errors.ts'
import { type SigningSecrets, signHeaders } from './signature.ts'

/** The part of a delivery that an attempt sends. */
export type Sendable = {
  id: string
  eventId: string
  url: string
  /** Sent byte for byte. It is the same in each attempt. */
  body: string
  /** The scripts of this Annex that led to the delivery: see `createHops`. */
  hops?: number
}

/** One try at a delivery. It has the fields of the retry schedule's `Outcome`. */
export type Attempt = {
  startedAtMs: number
  durationMs: number
  /** `delivered`: answered with 2xx; `rejected`: with another status; `error`: not answered. */
  outcome: 'delivered' | 'rejected' | 'error'
  timing: Timing
  requestHeaders: HeaderPairs
  status?: number
  /** The first 4 KiB of the answer's head. */
  responseHeaders?: HeaderPairs
  /** The first 4 KiB of its body, as text. */
  responseBody?: string
  retryAfter?: string
  error?: { code: ErrorCode; message: string }
}

export type AttemptOptions = {
  /** The wall clock: the `t` of the signature and the start of the attempt. */
  nowMs: number
  /** For the whole attempt: connecting, the head and the kept part of the body. Default 10 s. */
  timeoutMs?: number
  /** Adds the headers of Standard Webhooks. */
  standard?: boolean
  /** The organization that the delivery belongs to: see `Resolve`. */
  tenant?: string
}

/**
 * Sends a delivery once: a signed POST that follows no redirect and keeps the first 4 KiB of the answer. A failure of the
 * URL, the network or the receiver never rejects: it is the attempt's `error`.
 *
 * The status alone decides. A receiver that answers 200 and then trickles, resets or sends gigabytes has taken the delivery.
 */
export async function sendAttempt(
  egress: Egress,
  delivery: Sendable,
  secrets: SigningSecrets,
  options: AttemptOptions,
): Promise<Attempt> {
  const { nowMs } = options
  const started = performance.now()
  // Encoded once, for the signature and the wire.
  const body = Buffer.from(delivery.body)
  const requestHeaders = toHeaders(egress, delivery, body, secrets, options)
  const answered = await post(egress, delivery, body, requestHeaders, options)
  const durationMs = Math.round(performance.now() - started)
  return { startedAtMs: nowMs, durationMs, requestHeaders, ...answered }
}

function toHeaders(
  egress: Egress,
  delivery: Sendable,
  body: Buffer,
  secrets: SigningSecrets,
  { nowMs, standard = false }: AttemptOptions,
): HeaderPairs {
  const { id: deliveryId } = delivery
  return [
    ['Content-Type', 'application/json'],
    ['User-Agent', egress.userAgent],
    ...signHeaders({ body, deliveryId, secrets, nowMs, standard }),
    // Both are the same in each attempt. Receivers drop repeats by the event's id, which is also in the body.
    ['X-Service-Event-Id', delivery.eventId],
    ['X-Service-Delivery-Id', delivery.id],
    [hopsHeader, egress.writeHops((delivery.hops ?? 0) + 1)],
  ]
}

/** The stored bytes of an answer's head, and of its body. */
const keptBytes = 4_096

type Answered = Omit<Attempt, 'startedAtMs' | 'durationMs' | 'requestHeaders'>

async function post(
  egress: Egress,
  delivery: Sendable,
  body: Buffer,
  headers: HeaderPairs,
  { timeoutMs = 10_000, tenant }: AttemptOptions,
): Promise<Answered> {
  try {
    nextHops(delivery.hops ?? 0)
    const url = parseOutboundUrl(delivery.url, egress)
    const { timing, answer, error } = await exchange(egress, {
      url,
      method: 'POST',
      headers,
      body,
      tenant,
      timeoutMs,
      maxBytes: keptBytes,
    })
    return answer === undefined ? toUnanswered(error, timing) : toAnswered(answer, timing)
  } catch (error) {
    // The URL was refused before a connection.
    return toUnanswered(toEgressError(error, 'The delivery'), {})
  }
}

const toUnanswered = ({ code, message }: AnnexError, timing: Timing): Answered => ({
  outcome: 'error',
  timing,
  error: { code, message },
})

function toAnswered({ status, headers, body, isCut }: Answer, timing: Timing): Answered {
  const retryAfter = headerValue(headers, 'retry-after')
  return {
    outcome: status >= 200 && status < 300 ? 'delivered' : 'rejected',
    timing,
    status,
    responseHeaders: readHead(headers, keptBytes),
    responseBody: readExcerpt(body, isCut),
    ...(retryAfter === undefined ? {} : { retryAfter }),
  }
}

/** The first headers of an answer that fit into `maxBytes`, each of them whole. */
function readHead(headers: HeaderPairs, maxBytes: number): HeaderPairs {
  let bytes = 0
  const end = headers.findIndex(([name, value]) => {
    bytes += name.length + value.length
    return bytes > maxBytes
  })
  return end === -1 ? headers : headers.slice(0, end)
}

/**
 * The beginning of an answer's body as text. Bytes that are not UTF-8 become U+FFFD, and so does NUL, which PostgreSQL's
 * text cannot hold. Nothing is decompressed.
 *
 * @param isCut whether there was more: a character that the cut would split is left out
 */
function readExcerpt(chunks: readonly Uint8Array[], isCut: boolean): string {
  const [first] = chunks
  if (first === undefined) return ''
  const bytes = chunks.length === 1 ? first : Buffer.concat(chunks)
  // With `stream` the decoder waits for the rest of the last character.
  const text = isCut ? new TextDecoder().decode(bytes, { stream: true }) : toText(bytes)
  return text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text
}

/** Several times as fast as a TextDecoder, for the short answers of nearly all receivers. */
const toText = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()
