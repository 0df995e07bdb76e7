import type { Context, Middleware } from 'koa'
import { explainStorageError, isTextRefused } from '../db/explain-storage-error.ts'
import { createId } from '../db/ids.ts'
import { AnnexError, isAnnexError } from '../errors/annex-error.ts'

export type OnDefect = (error: unknown, requestId?: string) => void

/** Gives every request an id. It is in the answer, in errors and in the logs. */
export const identifyRequests: Middleware = (context, next) => {
  context.state.requestId = createId('req')
  return next()
}

/** Turns what was thrown into an answer. A defect shows a visitor the request's id alone. */
export function answerErrors(onDefect: OnDefect): Middleware {
  return async (context, next) => {
    try {
      await next()
      if (context.respond === false) return
      context.set('x-request-id', context.state.requestId)
      writeJson(context)
    } catch (thrown) {
      answerError(context, thrown, onDefect)
    }
  }
}

function answerError(context: Context, caught: unknown, onDefect: OnDefect): void {
  const { requestId } = context.state
  const thrown = isTextRefused(caught) ? unstorable(caught) : caught
  if (!isAnnexError(thrown)) onDefect(thrown, requestId)
  // A part of an answer must not pass for a whole one.
  if (context.headerSent) {
    context.respond = false
    context.res.destroy()
    return
  }
  const { status, retryAfter, code, message, details } = isAnnexError(thrown)
    ? thrown
    : (explainStorageError(thrown) ??
      new AnnexError('internal', `Something failed in Annex. Its log has more under ${requestId}.`))
  if (retryAfter !== undefined) context.set('retry-after', String(retryAfter))
  const shown = details?.slice(0, maxDetails)
  sendError(context, status, { code, message, ...(shown && { details: shown }) })
}

const maxDetails = 20

const unstorable = (cause: unknown): AnnexError =>
  new AnnexError('bad_request', 'A text of the request holds U+0000, which this database does not keep.', {
    cause,
  })

/** Answers with the body that every error has. */
export function sendError(
  context: Context,
  status: number,
  { code, message, ...more }: { code: string; message: string; details?: unknown },
): void {
  const { requestId } = context.state
  context.status = status
  context.set('x-request-id', requestId)
  context.set('x-content-type-options', 'nosniff')
  context.body = { error: { code, message, requestId, ...more } }
  writeJson(context)
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
