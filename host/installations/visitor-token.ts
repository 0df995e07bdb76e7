import { createHmac, timingSafeEqual } from 'node:crypto'
import { isJsonObject } from '../assert-json.ts'

/** `claims`: the payload, as the script has signed it. */
export type VerifiedToken =
  | { valid: true; claims: Record<string, unknown>; expiresAt: number }
  | { valid: false; reason: string }

/**
 * Verifies a token with which a script lets a visitor read a site: a JSON Web Token (RFC 7519) that the site installation's
 * signing secret has signed.
 *
 * Attacks: a token without a signature, a token that names another algorithm, a token of another site, an old token. Only HS256
 * is known, `exp` is required, and an unknown `crit` is refused (RFC 7515, 4.1.11).
 *
 * @param token hostile text
 */
export function verifyVisitorToken(token: string, keys: readonly string[], nowMs: number): VerifiedToken {
  const [, head = '', payload = '', signature = ''] = tokenForm.exec(token) ?? []
  const header = parsePart(head)
  const claims = parsePart(payload)
  if (header === undefined || claims === undefined) return invalid('It is no JSON Web Token.')
  if (header.alg !== 'HS256' || 'crit' in header) return invalid('It is not signed by HS256.')
  const given = Buffer.from(signature, 'base64url')
  const isSigned = keys.some((key) => isSame(given, sign(`${head}.${payload}`, key)))
  if (!isSigned) return invalid('Its signature is not by the signing secret of the site installation.')
  const { exp, nbf } = claims
  if (typeof exp !== 'number') return invalid('It has no "exp", the time at which it expires.')
  if (exp * 1000 <= nowMs) return invalid('It has expired.')
  if (nbf !== undefined && !(typeof nbf === 'number' && nbf * 1000 <= nowMs)) {
    return invalid('It does not count yet: see its "nbf".')
  }
  return { valid: true, claims, expiresAt: Math.min(exp * 1000, latestMs) }
}

const tokenForm = /^([\w-]{1,1000})\.([\w-]{1,8000})\.([\w-]{43})$/

/** The last time of RFC 3339. */
const latestMs = Date.UTC(9999, 11, 31)

const invalid = (reason: string): VerifiedToken => ({ valid: false, reason })

const sign = (text: string, key: string): Buffer => createHmac('sha256', key).update(text).digest()

const isSame = (one: Buffer, other: Buffer): boolean =>
  one.length === other.length && timingSafeEqual(one, other)

/** A JSON object in base64url. */
function parsePart(part: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
