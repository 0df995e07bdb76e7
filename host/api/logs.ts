import type Router from '@koa/router'
import type { Db } from '../db/db.ts'
import { type LogRow, listLogs } from '../db/queries/logs.ts'
import type { LogWriter } from '../logs/create-log-writer.ts'
import type { Authenticate } from './caller.ts'
import { limitOf, numbersIn, ownOf, texts } from './list-query.ts'

export type LogParts = { longReader: Db; authenticate: Authenticate; logs: LogWriter }

/** Lines that scripts logged, and reports of Annex about them. */
export function addLogRoutes(router: Router, { longReader, authenticate, logs }: LogParts): void {
  /**
   * Lists the newest lines, those before the line `before`, or the first ones after the line `after`; the oldest first.
   * Filters: `integration`, `installation`, `request`, `limit` (to 200).
   */
  router.get('/v1/logs', async (context) => {
    const own = ownOf(await authenticate(context))
    const names = ['integration', 'installation', 'request', 'before', 'after'] as const
    const { integration, installation, request, ...places } = texts(context.query, names)
    const limit = limitOf(context.query)
    // A client asks for the log right after an answer, by its request id: buffered lines are stored first.
    await logs.flush()
    const items = await listLogs(longReader, {
      ...own,
      ...(integration !== undefined && { integration }),
      ...(installation !== undefined && { installationId: installation }),
      ...(request !== undefined && { requestId: request }),
      ...numbersIn(places),
      limit,
    })
    const { after } = places
    const end = after === undefined ? items.at(0) : items.at(-1)
    const isMore = items.length === limit && end !== undefined
    context.body = {
      items: items.map(toLogView),
      ...(isMore && { next: after === undefined ? { before: end.id } : { after: end.id } }),
      count: items.length,
    }
  })
}

function toLogView({ id, at, integration, installationId, requestId, level, text }: LogRow): object {
  return {
    id,
    at: new Date(at).toISOString(),
    level,
    integration,
    ...(installationId !== null && { installation: installationId }),
    ...(requestId !== null && { request: requestId }),
    text,
  }
}
