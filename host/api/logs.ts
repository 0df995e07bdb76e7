import type { LogLine } from '../../schemas/generated/api/logs.ts'
import type { Db } from '../db/db.ts'
import { toStoredName } from '../db/queries/integrations.ts'
import { type LogRow, listLogs } from '../db/queries/logs.ts'
import type { LogWriter } from '../logs/create-log-writer.ts'
import { ownerOf } from './caller.ts'
import { listPage, numberCursor, spanOf, toIso } from './list-query.ts'
import type { OnOperation } from './operations.ts'

type LogParts = { db: Db; longReader: Db; logs: LogWriter }

/** Lines that scripts logged, and reports of Annex about them. */
export function addLogRoutes(on: OnOperation, { db, longReader, logs }: LogParts): void {
  on('GET /v1/logs', async (request) => {
    const { organization, integration, installation, request: requestId, after: from } = request.query
    const { level, text } = request.query
    const where = {
      ...(await ownerOf(db, request.caller, organization)),
      ...(integration !== undefined && { integration: await toStoredName(longReader, integration) }),
      ...(installation !== undefined && { installationId: installation }),
      ...(requestId !== undefined && { requestId }),
      ...(level !== undefined && { level }),
      ...(text !== undefined && { part: text }),
      ...spanOf(request.query),
    }
    // A client asks for the log right after an answer, by its request id: buffered lines are stored first.
    await logs.flush()
    // With `after` the pages go forward, else back from the newest line. In each page the oldest line is the first.
    const isForward = from !== undefined
    const answer = await listPage(request, {
      cursor: numberCursor,
      cursorOf: ({ id }) => String(id),
      read: async ({ after, limit }) => {
        if (isForward) return listLogs(longReader, { ...where, after: Number(after ?? from), limit })
        const before = after === undefined ? {} : { before: Number(after) }
        return (await listLogs(longReader, { ...where, ...before, limit })).reverse()
      },
      toView: toLogLine,
    })
    if (!isForward) answer.items.reverse()
    return answer
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
