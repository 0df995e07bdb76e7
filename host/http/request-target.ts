import type { Middleware } from 'koa'
import { AnnexError } from '../errors.ts'

/** The path and query that a request names. */
export type RequestTarget = { path: string; search: string }

const absolute = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i

/** Splits a request's target, which may be a whole URL (RFC 9112, 3.2.2). Path and query stay as they were sent. */
export function splitRequestTarget(url: string): RequestTarget {
  const rest = url.startsWith('/') ? url : url.replace(absolute, '')
  const hash = rest.indexOf('#')
  const whole = hash < 0 ? rest : rest.slice(0, hash)
  const query = whole.indexOf('?')
  return query < 0 ? { path: whole, search: '' } : { path: whole.slice(0, query), search: whole.slice(query) }
}

/**
 * Refuses encoded bytes that are no UTF-8: U+FFFD would stand for them in a record. Node's parser refuses bytes that are not encoded.
 *
 * @throws AnnexError `bad_request`
 */
export const refuseOtherEncodings: Middleware = ({ req }, next) => {
  if (isUtf8(req.url ?? '')) return next()
  throw new AnnexError('bad_request', 'The address has encoded bytes (%XX) that are no UTF-8.')
}

function isUtf8(target: string): boolean {
  if (!target.includes('%')) return true
  try {
    // A `%` that encodes nothing stands for itself.
    decodeURIComponent(target.replace(/%(?![\da-f]{2})/gi, '%25'))
    return true
  } catch {
    return false
  }
}
