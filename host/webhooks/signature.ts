import { createHmac, timingSafeEqual } from 'node:crypto'
import type { HeaderPairs } from '../egress/headers.ts'
import { AnnexError } from '../errors.ts'

export const signatureHeader = 'X-Service-Signature'

/** The secrets of a level in clear text. During a rotation there are two. */
export type SigningSecrets = {
  current: string
  /** Signs too, until `untilMs`. `isFirst`: a receiver that reads only one signature gets this one. */
  previous?: { secret: string; untilMs: number; isFirst: boolean }
}

/**
 * The headers that sign an attempt: `X-Service-Signature` (spec 5.1), and with `standard` those of Standard Webhooks.
 *
 * @param attempt.body the body as it is sent, byte for byte
 * @param attempt.nowMs the time of this attempt, in Unix ms
 */
export function signHeaders(attempt: {
  body: string | Uint8Array
  deliveryId: string
  secrets: SigningSecrets
  nowMs: number
  standard: boolean
}): HeaderPairs {
  const { body, deliveryId, nowMs, standard } = attempt
  const timestampSeconds = Math.floor(nowMs / 1_000)
  const secrets = inOrder(attempt.secrets, nowMs)
  // Some receivers read the first `v1`, others the last, as they collect the parts in a map. Both must get the first secret.
  const atBothEnds = secrets.length > 1 ? [...secrets, ...secrets.slice(0, 1)] : secrets
  return [
    [signatureHeader, signWebhook(body, atBothEnds, timestampSeconds)],
    ...(standard ? standardHeaders(body, { id: deliveryId, secrets, timestampSeconds }) : []),
  ]
}

function inOrder({ current, previous }: SigningSecrets, nowMs: number): string[] {
  if (previous === undefined || nowMs >= previous.untilMs) return [current]
  return previous.isFirst ? [previous.secret, current] : [current, previous.secret]
}

/**
 * The headers of Standard Webhooks 1.0: the delivery's id, the time of the attempt, and for each secret `v1,<base64>`, an
 * HMAC-SHA256 over `<id>.<timestamp>.<body>`. The key is the secret without `whsec_`, decoded from base64.
 *
 * @throws AnnexError `bad_request` for an id with other characters than letters, digits, `_` and `-`: with a period in the
 *   id one signature would hold for two requests
 */
function standardHeaders(
  body: string | Uint8Array,
  { id, secrets, timestampSeconds }: { id: string; secrets: readonly string[]; timestampSeconds: number },
): HeaderPairs {
  if (!/^[\w-]{1,200}$/.test(id)) {
    throw new AnnexError('bad_request', `${JSON.stringify(id)} cannot be signed: it is no id of a delivery.`)
  }
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
    const digest = createHmac('sha256', key).update(`${id}.${timestampSeconds}.`).update(body)
    return `v1,${digest.digest('base64')}`
  })
  return [
    ['webhook-id', id],
    ['webhook-timestamp', String(timestampSeconds)],
    ['webhook-signature', signatures.join(' ')],
  ]
}

/** The result of a check. `reason` is for the developer of a receiver. */
export type Verification = { valid: true } | { valid: false; reason: string }

/**
 * The value of `X-Service-Signature`: `t=<timestamp>` and for each secret `v1=<hex>`, an HMAC-SHA256 over `<t>.<body>`
 * with the secret's text as the key.
 *
 * @param body the body as it is sent, byte for byte
 * @param timestampSeconds whole seconds since 1970
 */
export function signWebhook(
  body: string | Uint8Array,
  secrets: readonly string[],
  timestampSeconds: number,
): string {
  const t = String(timestampSeconds)
  const signatures = secrets.map((secret) => `v1=${digestOf(body, secret, t).toString('hex')}`)
  return [`t=${t}`, ...signatures].join()
}

/**
 * Checks a header as a receiver does. Any of several `v1` parts may match, as a sender signs with two secrets during a
 * rotation. Digests are compared in constant time.
 *
 * @param options.toleranceSeconds how far the header's time may be from `nowSeconds`. It keeps a recorded request from being
 *   sent again later. Default 300.
 */
export function verifyWebhook(
  header: string | undefined,
  body: string | Uint8Array,
  secret: string,
  options: { nowSeconds: number; toleranceSeconds?: number },
): Verification {
  if (header === undefined || header === '') return { valid: false, reason: `${signatureHeader} is missing` }
  const parts = header.split(',').map((part) => part.trim())
  const timestamp = parts.find((part) => part.startsWith('t='))?.slice(2)
  const signatures = parts.filter((part) => part.startsWith('v1=')).map((part) => part.slice(3))
  if (timestamp === undefined || !/^\d{1,12}$/.test(timestamp)) {
    return { valid: false, reason: `${signatureHeader} has no t=<seconds>` }
  }
  if (signatures.length === 0) return { valid: false, reason: `${signatureHeader} has no v1=<hex>` }
  const expected = digestOf(body, secret, timestamp)
  if (!signatures.some((signature) => isEqual(expected, signature))) {
    return { valid: false, reason: 'no v1 part matches the body, as it was received, and the secret' }
  }
  const { nowSeconds, toleranceSeconds = 300 } = options
  if (Math.abs(nowSeconds - Number(timestamp)) > toleranceSeconds) {
    return { valid: false, reason: `t=${timestamp} is more than ${toleranceSeconds} s from this clock` }
  }
  return { valid: true }
}

const digestOf = (body: string | Uint8Array, secret: string, timestamp: string): Buffer =>
  createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest()

function isEqual(expected: Buffer, hex: string): boolean {
  // Buffer.from drops what is not hex, and the spec wants lower case.
  return /^[0-9a-f]{64}$/.test(hex) && timingSafeEqual(expected, Buffer.from(hex, 'hex'))
}
