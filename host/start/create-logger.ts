import { type Logger, pino } from 'pino'
import type { Settings } from '../config/load-settings.ts'
import { toLoggedError } from '../http/log-error.ts'
import type { Redact } from '../logs/create-redactor.ts'

/** The host's own log: a line of JSON for each thing that the operator should know, on stderr, without secrets. */
export const createLogger = (level: string, redact: Redact): Logger =>
  pino(
    { level, base: null, serializers: { err: toLoggedError }, hooks: { streamWrite: redact } },
    pino.destination({ fd: 2, sync: true }),
  )

/** What the host itself has to keep out of its log. */
export const hostSecrets = (settings: Settings): [name: string, value: string][] => [
  ['SECRET_KEY', settings.SECRET_KEY],
  ['DATABASE_URL', settings.DATABASE_URL],
  ['DATABASE_URL', URL.parse(settings.DATABASE_URL)?.password ?? ''],
]
