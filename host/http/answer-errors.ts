import type { Context, Middleware } from 'koa'
import { createId } from '../db/ids.ts'
import { type OnDefect, toErrorAnswer } from './send-error.ts'

/** Gives every request an id. It is in the answer, in errors and in the logs. */
export const identifyRequests: Middleware = (context, next) => {
  context.state.requestId = createId('req')
  return next()
}

/** Turns what was thrown into an answer. Of a defect nobody outside learns more than the request's id. */
export function answerErrors(onDefect: OnDefect): Middleware {
  return async (context, next) => {
    const { requestId } = context.state
    try {
      await next()
      context.set('x-request-id', requestId)
      writeJson(context)
    } catch (thrown) {
      const { status, retryAfter, error } = toErrorAnswer(thrown, requestId, onDefect)
      context.status = status
      context.set('x-request-id', requestId)
      context.set('x-content-type-options', 'nosniff')
      if (retryAfter !== undefined) context.set('retry-after', String(retryAfter))
      context.body = { error }
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
