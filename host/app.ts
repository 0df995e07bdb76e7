import type { RequestListener } from 'node:http'
import Router from '@koa/router'
import Koa from 'koa'
import { addDeliveryRoutes } from './api/deliveries.ts'
import { addFeedRoutes } from './api/delivery-feed.ts'
import { answerEndpoints } from './api/endpoints.ts'
import { answerErrors, identifyRequests, type OnDefect } from './api/errors.ts'
import { addEventRoutes } from './api/events.ts'
import { addHealthRoutes } from './api/health.ts'
import { addHomeRoute } from './api/home.ts'
import { addInstallationRoutes } from './api/installations.ts'
import { addIntegrationRoutes } from './api/integrations.ts'
import { addJobRoutes } from './api/jobs.ts'
import { addSettingRoutes } from './api/levels.ts'
import { isBrokenConnection } from './api/log-error.ts'
import { addLogRoutes } from './api/logs.ts'
import { addMetricsRoutes } from './api/metrics.ts'
import { addSetupRoutes } from './api/organizations.ts'
import type { RouteParts } from './api/parts.ts'
import { addReceiptRoutes } from './api/receipts.ts'
import { addWebhookEndpointRoutes } from './api/receivers.ts'
import { refuseAmbiguousRequests } from './api/refuse-ambiguous.ts'
import { addResendRoutes } from './api/resends.ts'
import { addSendAgainRoutes } from './api/send-again.ts'
import { addPlaceRoutes } from './api/sites.ts'
import { addSpaceRoutes } from './api/spaces.ts'
import { addTargetRoutes } from './api/targets.ts'
import { AnnexError } from './errors/annex-error.ts'

/** The API's routes. Each is described in docs/api.md. */
export function createRouter(parts: RouteParts): Router {
  const router = new Router()
  addHomeRoute(router, parts)
  addHealthRoutes(router, parts)
  addMetricsRoutes(router, parts)
  addSetupRoutes(router, parts)
  addPlaceRoutes(router, parts)
  addIntegrationRoutes(router, parts)
  addInstallationRoutes(router, parts)
  addTargetRoutes(router, parts)
  addSettingRoutes(router, parts)
  addSpaceRoutes(router, parts)
  addEventRoutes(router, parts)
  // Before those of one delivery: its path would be the id of one.
  addFeedRoutes(router, parts)
  addDeliveryRoutes(router, parts)
  addSendAgainRoutes(router, parts)
  addResendRoutes(router, parts)
  addWebhookEndpointRoutes(router, parts)
  addJobRoutes(router, parts)
  addLogRoutes(router, parts)
  addReceiptRoutes(router, parts)
  return router
}

/** Answers for people have settings, signing secrets, logs and payloads: no cache on the way keeps one. */
const keepOutOfCaches: Koa.Middleware = (context, next) => {
  context.set('cache-control', 'no-store')
  return next()
}

/** One request: it gets an id, errors become answers, its head is checked, and a script or a route of the API answers. */
export function createApp(parts: RouteParts, onDefect: OnDefect): RequestListener {
  const router = createRouter(parts)
  const app = new Koa()
  app.use(identifyRequests)
  app.use(answerErrors(onDefect))
  app.use(refuseAmbiguousRequests())
  app.use(answerEndpoints(parts))
  app.use(keepOutOfCaches)
  app.use(router.routes())
  app.use(refuseUnknown(router))
  // A socket that breaks while an answer is written is the visitor's doing.
  app.on('error', (error: unknown) => {
    if (!isBrokenConnection(error)) onDefect(error)
  })
  return app.callback()
}

/** @throws AnnexError `method_not_allowed`, `not_found` */
function refuseUnknown(router: Router): Koa.Middleware {
  return ({ path, method }) => {
    const isKnownPath = router.match(path, method).path.length > 0
    if (isKnownPath) throw new AnnexError('method_not_allowed', `${method} is not possible at ${path}.`)
    throw new AnnexError('not_found', `There is nothing at ${path}.`)
  }
}
