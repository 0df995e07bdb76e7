/**
 * What the log keeps of an error. An error of Node's HTTP parser carries the bytes that it choked on, and with them
 * whatever token the request had: only what is named here is written down.
 */
export function toLoggedError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) }
  const { name, message, stack, cause } = error
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  return {
    type: name,
    message,
    stack,
    ...(code !== undefined && { code }),
    ...(cause instanceof Error && { cause: { type: cause.name, message: cause.message } }),
  }
}

/** Whether a connection broke, or did not carry HTTP: the visitor's doing, and no defect of Annex. */
export function isBrokenConnection(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return brokenCodes.has(code) || code.startsWith('HPE_')
}

const brokenCodes: ReadonlySet<string> = new Set([
  'EPIPE',
  'ECONNRESET',
  'ECONNABORTED',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_STREAM_DESTROYED',
  'ERR_HTTP_REQUEST_TIMEOUT',
])
