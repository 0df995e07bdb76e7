import { createHmac } from 'node:crypto'
import type { HeaderPairs } from '../egress/headers.ts'
import { AnnexError } from '../errors/annex-error.ts'

/**
 * The headers of Standard Webhooks 1.0: the id, which is the same in each attempt, the time of the attempt, and
 * `v1,<base64>` for each secret, an HMAC-SHA256 over `<id>.<timestamp>.<body>`.
 *
 * @param signed.secrets as their holders see them: the key is what `whsec_` stands before, decoded from base64
 * @throws AnnexError `bad_request` for an id with other characters than letters, digits, `_` and `-`: with a period in it
 *   one signature would hold for two requests
 */
export function standardHeaders(
  body: string | Uint8Array,
  signed: { id: string; secrets: readonly string[]; timestampSeconds: number },
): HeaderPairs {
  const { id, secrets, timestampSeconds } = signed
  if (!/^[\w-]{1,200}$/.test(id)) {
    throw new AnnexError('bad_request', `${JSON.stringify(id)} cannot be signed: it is no id of a delivery.`)
  }
  const signatures = secrets.map((secret) => {
    const digest = createHmac('sha256', keyOf(secret)).update(`${id}.${timestampSeconds}.`).update(body)
    return `v1,${digest.digest('base64')}`
  })
  return [
    ['webhook-id', id],
    ['webhook-timestamp', String(timestampSeconds)],
    ['webhook-signature', signatures.join(' ')],
  ]
}

const keyOf = (secret: string): Buffer => Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
