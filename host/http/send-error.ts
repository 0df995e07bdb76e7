import type { ServerResponse } from 'node:http'
import { explainStorageError, isTextRefused } from '../db/explain-storage-error.ts'
import { AnnexError, isAnnexError } from '../errors/annex-error.ts'

export type OnDefect = (error: unknown, requestId: string) => void

/** What somebody outside is told: the status, the header Retry-After, and what the body's `error` holds. */
export type ErrorAnswer = {
  status: number
  retryAfter?: number | undefined
  error: { code: string; message: string; requestId: string }
}

const maxDetails = 20

/** What was thrown, as an answer. Of a defect nobody outside learns more than the request's id. */
export function toErrorAnswer(caught: unknown, requestId: string, onDefect: OnDefect): ErrorAnswer {
  const thrown = isTextRefused(caught) ? unstorable(caught) : caught
  if (!isAnnexError(thrown)) onDefect(thrown, requestId)
  const { status, retryAfter, code, message, details } = isAnnexError(thrown)
    ? thrown
    : (explainStorageError(thrown) ??
      new AnnexError('internal', `Something failed in Annex. Its log has more under ${requestId}.`))
  const shown = details?.slice(0, maxDetails)
  return { status, retryAfter, error: { code, message, requestId, ...(shown && { details: shown }) } }
}

const unstorable = (cause: unknown): AnnexError =>
  new AnnexError('bad_request', 'A text of the request holds U+0000, which this database does not keep.', {
    cause,
  })

/** Answers where there is no Koa. An answer that has begun is broken off: it must not pass for a whole one. */
export function sendError(response: ServerResponse, { status, retryAfter, error }: ErrorAnswer): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  const body = Buffer.from(JSON.stringify({ error }))
  response.writeHead(status, [
    ...['x-request-id', error.requestId, 'x-content-type-options', 'nosniff'],
    ...['content-type', 'application/json; charset=utf-8', 'content-length', String(body.byteLength)],
    ...(retryAfter === undefined ? [] : ['retry-after', String(retryAfter)]),
  ])
  response.end(body)
}
