import { isAnnexError } from '../errors/annex-error.ts'
import type { LogWriter } from '../logs/create-log-writer.ts'
import type { Level } from '../sandbox/level.ts'
import { ScriptError } from '../sandbox/sandbox-errors.ts'

/** Puts a failed dispatch into the log of its integration, where the request id finds it. */
export type ReportFailure = (level: Level, requestId: string, error: unknown) => void

/** @param onDefect gets what is neither the script's doing nor a limit's: a mistake in Annex */
export function createReportFailure(logs: LogWriter, onDefect: (error: unknown) => void): ReportFailure {
  return (level, requestId, error) => {
    if (!isAnnexError(error)) return onDefect(error)
    logs.report({
      integration: level.integration,
      installationId: level.kind === 'integration' ? null : level.installationId,
      requestId,
      level: 'error',
      text: error instanceof ScriptError ? describe(error) : error.message,
    })
  }
}

/** What the script threw. The log turns its places into the author's files and lines. */
const describe = ({ script }: ScriptError): string => script.stack || `${script.name}: ${script.message}`
