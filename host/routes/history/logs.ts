import type Router from '@koa/router'
import { inTurn } from '../../db/looks/turns.ts'
import { type LogRow, listLogs } from '../../db/queries/logs.ts'
import type { RouteParts } from '../parts.ts'
import { askerOf, limitOf, ownOf, placeIn, texts } from './list-query.ts'

/** What scripts logged, and what Annex says about them. */
export function addLogRoutes(router: Router, { longReader, authenticate, logs }: RouteParts): void {
  /** Oldest first: the newest lines, or those after the line `after`. Filters: `integration`, `installation`, `request`. */
  router.get('/v1/logs', async (context) => {
    const own = ownOf(await authenticate(context))
    const { integration, installation, request } = texts(context.query)
    // What was logged a moment ago is asked for now, by the request id of an answer just read.
    await logs.flush()
    const wanted = {
      ...own,
      ...(integration !== undefined && { integration }),
      ...(installation !== undefined && { installationId: installation }),
      ...(request !== undefined && { requestId: request }),
      ...placeIn(context.query, 'after'),
      limit: limitOf(context.query),
    }
    const list = () => listLogs(longReader, wanted)
    const items = (await inTurn(longReader, askerOf(context, own), list)) ?? []
    context.body = { items: items.map(toLogView), count: items.length }
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
