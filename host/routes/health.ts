import type Router from '@koa/router'
import { AnnexError } from '../errors/annex-error.ts'
import type { RouteParts } from './parts.ts'

/** For whoever watches the process. */
export function addHealthRoutes(router: Router, { db, sandboxes }: RouteParts): void {
  /** The process answers. Touches nothing else, the database least of all. */
  router.get('/healthz', (context) => {
    context.body = { status: 'ok' }
  })

  /** The database answers too, and scripts can run. 503 when not. */
  router.get('/readyz', async (context) => {
    try {
      await db.raw('select 1')
    } catch (cause) {
      throw new AnnexError('unavailable', 'The database does not answer.', { cause })
    }
    context.body = { status: 'ready', sandboxProcesses: sandboxes.processes().length }
  })
}
