import type { RequestListener } from 'node:http'
import type Router from '@koa/router'
import Koa from 'koa'
import { type ApiParts, createRouter } from './api/router.ts'
import { answerWhileLoading } from './api/still-loading.ts'
import { answerConsole, type ConsoleParts } from './console/files.ts'
import { separateHosts } from './endpoints/endpoint-hosts.ts'
import { answerEndpoints, type EndpointParts } from './endpoints/endpoints.ts'
import { AnnexError } from './errors.ts'
import { answerErrors, identifyRequests, isBrokenConnection, type OnDefect } from './http/errors.ts'
import { nowhere } from './http/rate-limits.ts'
import { refuseAmbiguousRequests } from './http/refuse-ambiguous.ts'
import { refuseOtherEncodings } from './http/request-target.ts'
import { addressOf } from './http/visitor.ts'

export type AppParts = EndpointParts & ApiParts & ConsoleParts

/** One request: it gets an id, its head is checked, and a public endpoint, the API or the console answers. A thrown error becomes an answer. */
export function createApp(parts: AppParts, onDefect: OnDefect): RequestListener {
  const router = createRouter(parts)
  const app = new Koa()
  app.use(identifyRequests)
  app.use(noteAddress(parts.isBehindProxy))
  app.use(answerErrors(onDefect))
  app.use(refuseAmbiguousRequests())
  app.use(separateHosts(parts.publicUrl))
  app.use(answerWhileLoading(parts.firstLoad))
  app.use(answerEndpoints(parts))
  app.use(protectAnswers)
  app.use(refuseOtherEncodings)
  app.use(router.routes())
  app.use(answerConsole(parts))
  app.use(refuseUnknown(router, parts))
  // A connection that breaks while an answer is written is no defect: the visitor has left.
  app.on('error', (error: unknown) => {
    if (!isBrokenConnection(error)) onDefect(error)
  })
  return app.callback()
}

/** `context.ip` is the client's address, by the rule of the rate limits. The audit has it. */
const noteAddress =
  (isBehindProxy: boolean): Koa.Middleware =>
  (context, next) => {
    context.request.ip = addressOf(context.req, isBehindProxy)
    return next()
  }

/**
 * Answers of the API hold settings, signing secrets, logs and payloads: no cache on the way may keep them. They also hold texts of
 * strangers: no page of this URL origin may load them as a script or a style.
 */
const protectAnswers: Koa.Middleware = (context, next) => {
  context.set({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
  return next()
}

/** @throws AnnexError `method_not_allowed`, `not_found`, `rate_limited` */
function refuseUnknown(router: Router, { rateLimits }: Pick<AppParts, 'rateLimits'>): Koa.Middleware {
  return async (context) => {
    await rateLimits.countVisitor(context, nowhere)
    const { path, method } = context
    const known = router.match(path, method).path.flatMap(({ methods }) => methods)
    if (known.length === 0) throw new AnnexError('not_found', `Annex has no route ${method} ${path}.`)
    context.set('allow', [...new Set(known)].join(', '))
    throw new AnnexError('method_not_allowed', `${method} is not possible at ${path}.`)
  }
}
