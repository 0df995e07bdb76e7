import type { Context, Middleware } from 'koa'
import { createId } from '../db/ids.ts'
import { AnnexError, isAnnexError } from '../errors/annex-error.ts'

/** Gives every request an id. It is in the answer, in errors and in the logs. */
export const identifyRequests: Middleware = (context, next) => {
  context.state.requestId = createId('req')
  return next()
}

const maxDetails = 20

/** Turns what was thrown into an answer. Of a defect nobody outside learns more than the request's id. */
export function answerErrors(onDefect: (error: unknown, requestId: string) => void): Middleware {
  return async (context, next) => {
    const { requestId } = context.state
    try {
      await next()
      // Answered already, head and all.
      if (context.respond === false) return
      context.set('x-request-id', requestId)
      writeJson(context)
    } catch (thrown) {
      if (!isAnnexError(thrown)) onDefect(thrown, requestId)
      const error = isAnnexError(thrown)
        ? thrown
        : new AnnexError('internal', `Something failed in Annex. Its log has more under ${requestId}.`)
      const details = error.details?.slice(0, maxDetails)
      context.status = error.status
      context.set('x-request-id', requestId)
      context.set('x-content-type-options', 'nosniff')
      context.body = {
        error: { code: error.code, message: error.message, requestId, ...(details && { details }) },
      }
      writeJson(context)
    }
  }
}

/** Koa would do it after all middleware, where a value that cannot become JSON is answered in plain text. */
function writeJson(context: Context): void {
  const { body } = context
  const isJson =
    body !== null && typeof body === 'object' && (Array.isArray(body) || isPlain(Object.getPrototypeOf(body)))
  if (!isJson) return
  const text = JSON.stringify(body)
  context.type = 'json'
  context.body = text
}

const isPlain = (prototype: unknown): boolean => prototype === Object.prototype || prototype === null
