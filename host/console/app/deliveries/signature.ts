import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'

type Headers = readonly (readonly string[])[]

/**
 * - `matches`: the body as sent is signed with the secret
 * - `changed`: so it is, and the receiver read another body
 * - `other-secret`: it is signed with another secret
 * - `missing`: the request has no signature
 */
export type Verdict = 'matches' | 'changed' | 'other-secret' | 'missing'

/**
 * Checks `X-Service-Signature` as a receiver does: `t=<seconds>` and, for each secret, `v1=<hex>` of an HMAC-SHA256 over
 * `<t>.<body>`. The web's own cryptography is missing on http, so this is a library. The secret leaves the page nowhere.
 *
 * @param received the body that the receiver has read
 */
export function checkSignature(
  { headers, body }: { headers: Headers; body: string },
  secret: string,
  received = body,
): Verdict {
  const parts = (findHeader(headers, 'x-service-signature') ?? '').split(',').map((part) => part.trim())
  const timestamp = parts.find((part) => part.startsWith('t='))?.slice(2)
  const given = parts.filter((part) => part.startsWith('v1=')).map((part) => part.slice(3))
  if (timestamp === undefined || given.length === 0) return 'missing'
  const digest = hmac(sha256, utf8ToBytes(secret), utf8ToBytes(`${timestamp}.${body}`))
  if (!given.includes(bytesToHex(digest))) return 'other-secret'
  return received === body ? 'matches' : 'changed'
}

/** Where two texts begin to differ: the characters that they have in common. */
export function commonLength(one: string, other: string): number {
  let at = 0
  while (at < one.length && at < other.length && one[at] === other[at]) at += 1
  return at
}

/** A `Date` header has whole seconds, and the answer was on its way. */
const uncertainSeconds = 5

/**
 * How many seconds the clock of the receiver is ahead of Annex (negative: behind), by the `Date` of its answer.
 *
 * @returns 0 for a clock that is right, undefined where the answer has no date
 */
export function clockOffset(attempt: {
  startedAt: string
  durationMs: number
  response?: { headers: Headers } | undefined
}): number | undefined {
  const theirMs = Date.parse(findHeader(attempt.response?.headers ?? [], 'date') ?? '')
  if (Number.isNaN(theirMs)) return undefined
  const ownMs = Date.parse(attempt.startedAt) + attempt.durationMs
  const seconds = Math.round((theirMs - ownMs) / 1_000)
  return Math.abs(seconds) <= uncertainSeconds ? 0 : seconds
}

export const findHeader = (headers: Headers, wanted: string): string | undefined =>
  headers.find(([name]) => name?.toLowerCase() === wanted)?.[1]
