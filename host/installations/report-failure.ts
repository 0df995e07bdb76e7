import type { Db } from '../db/open-database.ts'
import { isAnnexError } from '../errors/annex-error.ts'
import type { LogWriter } from '../logs/create-log-writer.ts'
import type { Level } from '../sandbox/level.ts'
import { ScriptError } from '../sandbox/sandbox-errors.ts'
import { mapToSource } from './map-log.ts'

/** Puts a failed dispatch into the log of its integration, where the request id finds it. */
export type ReportFailure = (level: Level, requestId: string, error: unknown) => Promise<void>

/** @param onDefect gets what is neither the script's doing nor a limit's: a mistake in Annex */
export function createReportFailure(
  db: Db,
  logs: LogWriter,
  onDefect: (error: unknown) => void,
): ReportFailure {
  return async (level, requestId, error) => {
    if (!isAnnexError(error)) return onDefect(error)
    const text = error instanceof ScriptError ? await describeThrown(db, level, error) : error.message
    logs.write({
      integration: level.integration,
      installationId: level.kind === 'integration' ? null : level.installationId,
      requestId,
      level: 'error',
      text,
    })
  }
}

/** The stack with the author's own files and lines. */
function describeThrown(db: Db, level: Level, { script }: ScriptError): Promise<string> {
  return mapToSource(db, level.integration, script.stack || `${script.name}: ${script.message}`)
}
