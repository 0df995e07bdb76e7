/** The result of a check of an attempt's signature. */
export type Verdict = 'verified' | 'wrong' | 'missing' | 'not-here'

/**
 * Checks `X-Service-Signature` as a receiver does: `t=<seconds>` and, for each secret, `v1=<hex>` of an HMAC-SHA256 over
 * `<t>.<body>`. The secret leaves this page nowhere.
 */
export async function checkSignature(
  { headers, body }: { headers: readonly (readonly string[])[]; body: string },
  secret: string,
): Promise<Verdict> {
  const [, value] = headers.find(([name]) => name?.toLowerCase() === 'x-service-signature') ?? []
  const parts = (value ?? '').split(',').map((part) => part.trim())
  const timestamp = parts.find((part) => part.startsWith('t='))?.slice(2)
  const given = parts.filter((part) => part.startsWith('v1=')).map((part) => part.slice(3))
  if (timestamp === undefined || given.length === 0) return 'missing'
  if (crypto.subtle === undefined) return 'not-here'
  const bytes = (text: string) => new TextEncoder().encode(text)
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', bytes(secret), algorithm, false, ['sign'])
  const digest = await crypto.subtle.sign('HMAC', key, bytes(`${timestamp}.${body}`))
  const hex = [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return given.includes(hex) ? 'verified' : 'wrong'
}
