import { type Logger, pino } from 'pino'
import type { Settings } from '../config/load-settings.ts'
import { explainStorageError } from '../db/errors.ts'
import { toLoggedError } from '../http/errors.ts'
import type { Redact } from '../logs/create-redactor.ts'

/** Lines that a full disk refuses are kept and written later, up to this many characters. */
const mostUnwritten = 1024 * 1024

/** The host's own log: a line of JSON for each thing that the operator should know, on stderr, without secrets. */
export function createLogger(level: string, redact: Redact): Logger {
  const destination = pino.destination({ fd: 2, sync: true, maxLength: mostUnwritten })
  // A host must not end for its log.
  destination.on('error', () => {})
  return pino(
    { level, base: null, serializers: { err: toLoggedError }, hooks: { streamWrite: redact } },
    destination,
  )
}

/** The secrets of the host that its log must not show. */
export const hostSecrets = (settings: Settings): [name: string, value: string][] => [
  ['SECRET_KEY', settings.SECRET_KEY],
  ['DATABASE_URL', settings.DATABASE_URL],
  ['OPENID_CLIENT_SECRET', settings.OPENID_CLIENT_SECRET],
  ['DATABASE_URL', URL.parse(settings.DATABASE_URL)?.password ?? ''],
]

const sameFailureMs = 60_000

/**
 * Logs defects. A database that is full, locked or away fails each request and each job in the same way: that is one line in a
 * minute, and no defect.
 */
export function createOnDefect(
  logger: Logger,
  now: () => number = () => performance.now(),
): (error: unknown, requestId?: string) => void {
  const saidAt = new Map<string, number>()
  return (error, requestId) => {
    const explained = explainStorageError(error)
    if (explained === undefined) return logger.error({ err: error, requestId }, 'defect')
    const { code, message } = explained
    if (now() - (saidAt.get(code) ?? Number.NEGATIVE_INFINITY) < sameFailureMs) return
    saidAt.set(code, now())
    logger.error({ code, requestId }, message)
  }
}
