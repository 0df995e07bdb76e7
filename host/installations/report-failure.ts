import { type ErrorCode, isAnnexError } from '../errors.ts'
import type { LogWriter } from '../logs/create-log-writer.ts'
import type { LevelRef } from '../sandbox/level-ref.ts'
import { ScriptError } from '../sandbox/sandbox-errors.ts'

/** Logs a failed dispatch of an integration, under its request id. */
export type ReportFailure = (failed: FailedDispatch, requestId: string, error: unknown) => void

/** `version`: the one that ran, if one did. */
export type FailedDispatch = { level: LevelRef; version?: { digest: string } }

/** @param onDefect gets all other errors: they are bugs of Annex */
export function createReportFailure(logs: LogWriter, onDefect: (error: unknown) => void): ReportFailure {
  return ({ level, version }, requestId, error) => {
    if (!isAnnexError(error)) return onDefect(error)
    logs.report({
      integration: level.integration,
      version: version?.digest,
      installationId: level.kind === 'integration' ? null : level.installationId,
      requestId,
      level: 'error',
      text: error instanceof ScriptError ? describe(error) : error.message,
    })
  }
}

/** The log turns positions in the stack into the author's files and lines. */
const describe = ({ script }: ScriptError): string => script.stack || `${script.name}: ${script.message}`

/** True for a failure of a script, which its author has to read. */
export const isScriptsFailure = (error: unknown): boolean =>
  !isAnnexError(error) || !unreported.has(error.code)

/** A flood of bad requests would push useful lines out of an integration's log. */
const unreported: ReadonlySet<ErrorCode> = new Set([
  'bad_request',
  'body_too_large',
  'flow_refused',
  'installation_paused',
  'installation_suspended',
  'no_version',
  'not_found',
  'sandbox_busy',
  'missing_scope',
  'script_error',
])
