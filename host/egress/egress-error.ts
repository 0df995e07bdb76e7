import { AnnexError, isAnnexError } from '../errors.ts'

/**
 * Turns an error of undici, a socket, TLS or zlib into one that a script or an installer may see. The text is made here and
 * holds the code only: a message of the system names addresses of the inner network.
 *
 * Every error that a peer can cause must pass through here. The cause is kept for the log.
 *
 * @param what the exchange in words: `GET https://example.com`
 */
export function toEgressError(error: unknown, what: string): AnnexError {
  if (isAnnexError(error)) return error
  const code = codeOf(error)
  const options = { cause: error }
  if (code === 'UND_ERR_INVALID_ARG' || code === 'UND_ERR_NOT_SUPPORTED') {
    const reason = error instanceof Error ? error.message : code
    return new AnnexError('bad_request', `${what} cannot be sent: ${reason}.`, options)
  }
  if (timeouts.has(code)) return new AnnexError('egress_timeout', `${what} timed out (${code}).`, options)
  if (code === 'UND_ERR_HEADERS_OVERFLOW') {
    return new AnnexError('egress_too_large', `${what}: the headers of the answer are too large.`, options)
  }
  const reason = isHttp2(error) ? reasons.HTTP_2 : reasonFor(code)
  return new AnnexError('egress_failed', `${what} failed: ${reason} (${code}).`, options)
}

/** True when the peer closed the connection. */
export const isConnectionLost = (error: unknown): boolean =>
  ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes(codeOf(error))

const timeouts: ReadonlySet<string> = new Set([
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
])

const oldTls = 'the server speaks only TLS 1.1 or older, and Annex needs TLS 1.2 or 1.3'
const http2 = 'the server speaks only HTTP/2, and Annex needs HTTP/1.1'

const reasons: Readonly<Record<string, string>> = {
  EAI_AGAIN: 'the name could not be resolved for now',
  CERT_HAS_EXPIRED: 'the certificate has expired',
  CERT_NOT_YET_VALID: 'the certificate is not valid yet',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed before the answer was complete',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ENOTFOUND: 'the name does not resolve',
  EPIPE: 'the connection was closed before the request was sent',
  ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL: http2,
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: oldTls,
  ERR_SSL_UNSUPPORTED_PROTOCOL: oldTls,
  HTTP_2: http2,
  HTTP_101: 'the answer switches to another protocol, for which nothing asked',
  EPROTO: 'the server does not speak TLS',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'the server does not speak TLS',
  ERR_SSL_WRONG_VERSION_NUMBER: 'the server does not speak TLS',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another name',
  SELF_SIGNED_CERT_IN_CHAIN: 'this machine does not trust the signer of the certificate',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'this machine does not trust the signer of the certificate',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'this machine does not trust the signer of the certificate',
  UND_ERR_DESTROYED: 'Annex is stopping',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the length that the answer gives is not that of its body',
  UND_ERR_SOCKET: 'the connection was closed before the answer was complete',
}

function reasonFor(code: string): string {
  const known = Object.hasOwn(reasons, code) ? reasons[code] : undefined
  if (known !== undefined) return known
  if (code.startsWith('HTTP_'))
    return `HTTP has no status ${code.slice('HTTP_'.length)}, which the answer has`
  if (code === 'HPE_INVALID') return 'the answer is not HTTP'
  if (code.startsWith('Z_') || code.startsWith('ERR_BROTLI') || code.startsWith('ERR__ERROR_')) {
    return 'the body of the answer cannot be decompressed'
  }
  // OpenSSL 3.5 names this alert anew.
  if (code.endsWith('_ALERT_HANDSHAKE_FAILURE'))
    return 'the server and Annex have no cipher or curve in common'
  if (code.includes('CERT') || code.includes('SSL') || code.includes('TLS')) {
    return 'there is no trusted TLS connection'
  }
  return 'the connection failed'
}

/** A server that speaks HTTP/2 begins with a frame of settings (RFC 9113, 3.4 and 6.5). */
function isHttp2(error: unknown): boolean {
  if (!(error instanceof Error) || error.name !== 'HTTPParserError') return false
  const { data } = error as { data?: unknown }
  return typeof data === 'string' && data.startsWith('\0\0') && data.slice(3, 9) === '\x04\0\0\0\0\0'
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error
  // undici means to give its parser's errors a code of llhttp, but gives none.
  if (error.name === 'HTTPParserError') return 'HPE_INVALID'
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}
