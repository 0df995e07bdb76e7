import type { LogLine } from '../../schemas/generated/api/logs.ts'
import type { Db } from '../db/db.ts'
import { type LogRow, listLogs } from '../db/queries/logs.ts'
import type { LogWriter } from '../logs/create-log-writer.ts'
import { numbersIn, ownOf, toIso } from './list-query.ts'
import type { OnOperation } from './operations.ts'

export type LogParts = { longReader: Db; logs: LogWriter }

/** Lines that scripts logged, and reports of Annex about them. */
export function addLogRoutes(on: OnOperation, { longReader, logs }: LogParts): void {
  on('listLogs', async ({ caller, query }) => {
    const { integration, installation, request, limit, ...places } = query
    // A client asks for the log right after an answer, by its request id: buffered lines are stored first.
    await logs.flush()
    const items = await listLogs(longReader, {
      ...ownOf(caller),
      ...(integration !== undefined && { integration }),
      ...(installation !== undefined && { installationId: installation }),
      ...(request !== undefined && { requestId: request }),
      ...numbersIn(places),
      limit,
    })
    const { after } = places
    const end = after === undefined ? items.at(0) : items.at(-1)
    const isMore = items.length === limit && end !== undefined
    return {
      items: items.map(toLogLine),
      ...(isMore && { next: after === undefined ? { before: end.id } : { after: end.id } }),
      count: items.length,
    }
  })
}

function toLogLine({ id, at, integration, installationId, requestId, level, text }: LogRow): LogLine {
  return {
    id,
    at: toIso(at),
    level,
    integration,
    ...(installationId !== null && { installation: installationId }),
    ...(requestId !== null && { request: requestId }),
    text,
  }
}
