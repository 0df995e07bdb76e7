import type { RequestListener } from 'node:http'
import Router from '@koa/router'
import Koa from 'koa'
import { AnnexError } from './errors/annex-error.ts'
import { answerErrors, identifyRequests, type OnDefect } from './http/answer-errors.ts'
import { isBrokenConnection } from './http/log-error.ts'
import { refuseAmbiguousRequests } from './http/refuse-ambiguous.ts'
import { addDeliveryRoutes } from './routes/deliveries/deliveries.ts'
import { addWebhookEndpointRoutes } from './routes/deliveries/endpoints.ts'
import { addFeedRoutes } from './routes/deliveries/feed.ts'
import { addJobRoutes } from './routes/deliveries/jobs.ts'
import { addResendRoutes } from './routes/deliveries/resends.ts'
import { addSendAgainRoutes } from './routes/deliveries/send-again.ts'
import { answerEndpoints } from './routes/endpoints.ts'
import { addEventRoutes } from './routes/events.ts'
import { addHealthRoutes } from './routes/health.ts'
import { addLogRoutes } from './routes/history/logs.ts'
import { addReceiptRoutes } from './routes/history/receipts.ts'
import { addHomeRoute } from './routes/home/home.ts'
import { addInstallationRoutes } from './routes/installations.ts'
import { addIntegrationRoutes } from './routes/integrations.ts'
import { addMetricsRoutes } from './routes/metrics.ts'
import type { RouteParts } from './routes/parts.ts'
import { addPlaceRoutes } from './routes/places.ts'
import { addSettingRoutes } from './routes/settings.ts'
import { addSetupRoutes } from './routes/setup.ts'
import { addSpaceRoutes } from './routes/spaces.ts'
import { addTargetRoutes } from './routes/targets.ts'

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
