import type { RequestListener } from 'node:http'
import type Router from '@koa/router'
import Koa from 'koa'
import { answerEndpoints, type EndpointParts } from './api/endpoints.ts'
import { answerErrors, identifyRequests, isBrokenConnection, type OnDefect } from './api/errors.ts'
import { refuseAmbiguousRequests } from './api/refuse-ambiguous.ts'
import { type ApiParts, createRouter } from './api/router.ts'
import { AnnexError } from './errors.ts'

export type AppParts = EndpointParts & ApiParts

/** One request: it gets an id, its head is checked, and a public endpoint or the API answers. A thrown error becomes an answer. */
export function createApp(parts: AppParts, onDefect: OnDefect): RequestListener {
  const router = createRouter(parts)
  const app = new Koa()
  app.use(identifyRequests)
  app.use(answerErrors(onDefect))
  app.use(refuseAmbiguousRequests())
  app.use(answerEndpoints(parts))
  app.use(keepOutOfCaches)
  app.use(router.routes())
  app.use(refuseUnknown(router))
  // A connection that breaks while an answer is written is no defect: the visitor has left.
  app.on('error', (error: unknown) => {
    if (!isBrokenConnection(error)) onDefect(error)
  })
  return app.callback()
}

/** Answers of the API hold settings, signing secrets, logs and payloads: no cache on the way may keep them. */
const keepOutOfCaches: Koa.Middleware = (context, next) => {
  context.set('cache-control', 'no-store')
  return next()
}

/** @throws AnnexError `method_not_allowed`, `not_found` */
function refuseUnknown(router: Router): Koa.Middleware {
  return ({ path, method }) => {
    const isKnownPath = router.match(path, method).path.length > 0
    if (isKnownPath) throw new AnnexError('method_not_allowed', `${method} is not possible at ${path}.`)
    throw new AnnexError('not_found', `Annex has no route ${method} ${path}.`)
  }
}
