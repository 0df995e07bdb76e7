import type { Dispatcher } from 'undici'
import type { ErrorCode } from '../errors/codes.ts'
import type { Egress } from '../net/egress.ts'
import { toEgressError } from '../net/egress-error.ts'
import { parseTarget } from '../net/guard/egress-target.ts'
import { createDeadline } from '../net/request/deadline.ts'
import { type HeaderPairs, headerValue, toPairs } from '../net/request/egress-headers.ts'
import { hopsHeader, nextHops } from '../net/request/loop-guard.ts'
import { readExcerpt } from './read-excerpt.ts'
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
  requestHeaders: HeaderPairs
  status?: number
  responseHeaders?: HeaderPairs
  /** The first 4 KiB of the answer, as text. */
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
  const { nowMs, timeoutMs = 10_000 } = options
  const started = performance.now()
  const requestHeaders = toHeaders(egress, delivery, secrets, options)
  const answered = await post(egress, delivery, requestHeaders, timeoutMs)
  const durationMs = Math.round(performance.now() - started)
  return { startedAtMs: nowMs, durationMs, requestHeaders, ...answered }
}

function toHeaders(
  egress: Egress,
  delivery: Sendable,
  secrets: SigningSecrets,
  { nowMs, standard = false }: AttemptOptions,
): HeaderPairs {
  const { body, id: deliveryId } = delivery
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

type Answered = Omit<Attempt, 'startedAtMs' | 'durationMs' | 'requestHeaders'>

async function post(
  egress: Egress,
  delivery: Sendable,
  headers: HeaderPairs,
  timeoutMs: number,
): Promise<Answered> {
  let what = 'The delivery'
  let deadline: ReturnType<typeof createDeadline> | undefined
  try {
    nextHops(delivery.hops ?? 0)
    const url = parseTarget(delivery.url, egress)
    what = `POST ${url.origin}`
    deadline = createDeadline(timeoutMs, what)
    const response = await egress.dispatcher.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method: 'POST',
      headers: headers.flat(),
      body: delivery.body,
      signal: deadline.signal,
      responseHeaders: 'raw',
    })
    return await toAnswered(response)
  } catch (error) {
    const { code, message } = toEgressError(error, what)
    return { outcome: 'error', error: { code, message } }
  } finally {
    deadline?.end()
  }
}

async function toAnswered({ statusCode, headers, body }: Dispatcher.ResponseData): Promise<Answered> {
  // With `responseHeaders: 'raw'` it is a list of names and values, which the types do not know.
  const responseHeaders = toPairs(headers as unknown as string[])
  const retryAfter = headerValue(responseHeaders, 'retry-after')
  return {
    outcome: statusCode >= 200 && statusCode < 300 ? 'delivered' : 'rejected',
    status: statusCode,
    responseHeaders,
    responseBody: await readExcerpt(body, 4_096),
    ...(retryAfter === undefined ? {} : { retryAfter }),
  }
}
