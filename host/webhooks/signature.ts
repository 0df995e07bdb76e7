import { createHmac, timingSafeEqual } from 'node:crypto'

export const signatureHeader = 'X-Service-Signature'

/** Whether a signature holds, and if not, why: in words for the developer of a receiver. */
export type Verification = { valid: true } | { valid: false; reason: string }

/**
 * The value of `X-Service-Signature`: `t=<timestamp>,v1=<hex>`, an HMAC-SHA256 over `<t>.<body>` with the
 * secret's text as the key.
 *
 * @param body the body as it is sent, byte for byte
 * @param timestampSeconds whole seconds since 1970
 */
export function signWebhook(body: string | Uint8Array, secret: string, timestampSeconds: number): string {
  return `t=${timestampSeconds},v1=${digestOf(body, secret, String(timestampSeconds)).toString('hex')}`
}

/**
 * Checks a header as a receiver does. Any of several `v1` parts may match: while a secret is being changed a
 * sender may sign with both. Digests are compared in constant time.
 *
 * @param options.toleranceSeconds how far the header's time may be from `nowSeconds`; a copy that somebody
 *   recorded is then of no use later. Default 300.
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
