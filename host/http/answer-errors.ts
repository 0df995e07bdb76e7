import type { Middleware } from 'koa'
import { createId } from '../db/ids.ts'
import { AnnexError, isAnnexError } from '../errors/annex-error.ts'

/** Gives every request an id. It is in the answer, in errors and in the logs. */
export const identifyRequests: Middleware = (context, next) => {
  context.state.requestId = createId('req')
  context.set('x-request-id', context.state.requestId)
  return next()
}

/** Turns what was thrown into an answer. Of a defect nobody outside learns more than the request's id. */
export function answerErrors(onDefect: (error: unknown, requestId: string) => void): Middleware {
  return async (context, next) => {
    const { requestId } = context.state
    try {
      await next()
      if (context.status === 404 && context.body == null && !context.respond === false) notFound(context.path)
    } catch (thrown) {
      if (!isAnnexError(thrown)) onDefect(thrown, requestId)
      const error = isAnnexError(thrown)
        ? thrown
        : new AnnexError('internal', `Something failed in Annex. Its log has more under ${requestId}.`)
      context.status = error.status
      context.body = {
        error: {
          code: error.code,
          message: error.message,
          requestId,
          ...(error.details && { details: error.details }),
        },
      }
    }
  }
}

function notFound(path: string): never {
  throw new AnnexError('not_found', `There is nothing at ${path}.`)
}
