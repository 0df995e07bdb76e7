import type { Egress } from '../egress/egress.ts'
import { toEgressError } from '../egress/egress-error.ts'
import { type Answer, exchange, type Timing } from '../egress/exchange.ts'
import { type HeaderPairs, headerValue } from '../egress/headers.ts'
import { hopsHeader, nextHops } from '../egress/loop-guard.ts'
import { parseTarget } from '../egress/target.ts'
import type { AnnexError } from '../errors/annex-error.ts'
import type { ErrorCode } from '../errors/codes.ts'
import { readExcerpt, readHead } from './read-excerpt.ts'
import { type SigningSecrets, signHeaders } from './signature.ts'

/** What an attempt needs of a delivery. */
export type Sendable = {
  id: string
  eventId: string
  url: string
  /** Sent byte for byte, in each attempt the same. */
  body: string
  /** How many scripts of this Annex led to it: see `readHops`. */
  hops?: number
}

/** One try at a delivery, as it is stored. `Outcome` of the retry schedule fits it. */
export type Attempt = {
  startedAtMs: number
  durationMs: number
  /** `delivered`: answered with 2xx; `rejected`: with another status; `error`: not answered. */
  outcome: 'delivered' | 'rejected' | 'error'
  /** Where the time went. */
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
  /** The time by the wall clock: the `t` of the signature, and what is stored. */
  nowMs: number
  /** For the whole attempt: connecting, headers, as much of the answer as is kept. Default 10 s. */
  timeoutMs?: number
  /** Whether the headers of Standard Webhooks are sent, too. */
  standard?: boolean
  /** The organization that the delivery belongs to: see `Resolve`. */
  tenant?: string
}

/**
 * Sends a delivery once: a signed POST that follows no redirect and keeps the first 4 KiB of the answer. Never
 * rejects for anything that the URL, the network or the receiver did; that is the attempt's `error`.
 *
 * The status decides as soon as it has come: a receiver that answers 200 and then trickles, resets or sends
 * gigabytes has taken the delivery.
 */
export async function sendAttempt(
  egress: Egress,
  delivery: Sendable,
  secrets: SigningSecrets,
  options: AttemptOptions,
): Promise<Attempt> {
  const { nowMs } = options
  const started = performance.now()
  // As bytes once, for the signature and the wire.
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
    // Both are the same in each attempt. The event's is also in the body; receivers drop repeats by it.
    ['X-Service-Event-Id', delivery.eventId],
    ['X-Service-Delivery-Id', delivery.id],
    [hopsHeader, egress.writeHops((delivery.hops ?? 0) + 1)],
  ]
}

/** Of an answer's head, and of its body. */
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
    const url = parseTarget(delivery.url, egress)
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
    // What can be seen of a URL before a connection.
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
