import type { Context, Middleware } from 'koa'
import { explainStorageError, isTextRefused } from '../db/errors.ts'
import { createId } from '../db/ids.ts'
import { AnnexError, isAnnexError } from '../errors.ts'
import { OtherSpelling } from '../installations/other-spelling.ts'
import { isForBrowser, sendErrorPage } from './error-page.ts'
import { splitRequestTarget } from './request-target.ts'

export type OnDefect = (error: unknown, requestId?: string) => void

/** Gives every request an id. Answers, errors and logs have it. */
export const identifyRequests: Middleware = (context, next) => {
  context.state.requestId = createId('req')
  return next()
}

/** Turns a thrown error into an answer. The answer to a defect has the request's id alone. */
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
  // A visitor must not take a part of an answer for the whole.
  if (context.headerSent) {
    context.respond = false
    context.res.destroy()
    return
  }
  if (thrown instanceof OtherSpelling) return redirect(context, thrown)
  const { status, retryAfter, code, message, details } = isAnnexError(thrown)
    ? thrown
    : (explainStorageError(thrown) ??
      new AnnexError('internal', `Something failed in Annex. Its log has more under ${requestId}.`))
  if (retryAfter !== undefined) context.set('retry-after', String(retryAfter))
  const shown = details?.slice(0, maxDetails)
  sendError(context, status, { code, message, ...(shown && { details: shown }) })
}

/** The same request at the address with the right name. 308 keeps the method and the body. */
function redirect(context: Context, { spelling }: OtherSpelling): void {
  const { path, search } = splitRequestTarget(context.req.url ?? '/')
  context.set('location', path.replace(/^(\/x|\/v1\/integrations)\/[^/]+/, `$1/${spelling}`) + search)
  // An integration of another spelling may have the name one day.
  context.set('cache-control', 'no-store')
  context.set('x-request-id', context.state.requestId)
  context.status = 308
  context.body = ''
}

const maxDetails = 20

const unstorable = (cause: unknown): AnnexError =>
  new AnnexError('bad_request', 'A text of the request holds U+0000, which this database does not keep.', {
    cause,
  })

/** Answers with the body that every error has, or with a page where a person connects an account. */
export function sendError(
  context: Context,
  status: number,
  { code, message, ...more }: { code: string; message: string; details?: unknown },
): void {
  const { requestId } = context.state
  context.status = status
  context.set('x-request-id', requestId)
  context.set('x-content-type-options', 'nosniff')
  if (isForBrowser(context, code)) return sendErrorPage(context, { code, message })
  context.body = { error: { code, message, requestId, docs: `docs/errors.md#${code}`, ...more } }
  writeJson(context)
}

/** Koa serializes after all middleware: its answer to a value that cannot become JSON would be plain text. */
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

/**
 * The fields of an error that the log keeps. An error of Node's HTTP parser carries the received bytes, which may hold a
 * token: only fields that are named here are written.
 */
export function toLoggedError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) }
  const { name, message, stack, cause } = error
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  return {
    type: name,
    message,
    stack,
    ...(code !== undefined && { code }),
    ...(cause instanceof Error && { cause: { type: cause.name, message: cause.message } }),
  }
}

/** True when a connection broke or did not carry HTTP: the visitor caused it, so it is no defect of Annex. */
export function isBrokenConnection(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return brokenCodes.has(code) || code.startsWith('HPE_')
}

const brokenCodes: ReadonlySet<string> = new Set([
  'EPIPE',
  'ECONNRESET',
  'ECONNABORTED',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_STREAM_DESTROYED',
  'ERR_HTTP_REQUEST_TIMEOUT',
])
