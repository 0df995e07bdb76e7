import type { Context } from 'koa'
import type { Caller } from '../access/tokens.ts'
import { AnnexError } from '../errors.ts'
import { isPerson } from './caller.ts'

/** Compares the version that an edit began with to the stored one. @throws AnnexError `precondition_failed` */
export type AssertMatch = (etag: string) => void

/**
 * Reads `If-Match` (RFC 9110, 13.1.1): the ETags that an edit may replace, or `*` for any. People must send it: two of them may
 * edit the same settings. A script need not, as on the reference platform.
 *
 * @throws AnnexError `precondition_required`
 */
export function readIfMatch(context: Context, caller: Caller): AssertMatch {
  const given = context.get('if-match').trim()
  if (given === '*') return () => {}
  const etags = given.split(',').map((etag) => etag.trim())
  if (given !== '') {
    return (etag) => {
      if (!etags.includes(etag)) throw stale(etag)
    }
  }
  if (!isPerson(caller)) return () => {}
  const text =
    'Send the header If-Match with the ETag of what this edit changes, as it was read, or "*" to replace any version.'
  throw new AnnexError('precondition_required', text)
}

const stale = (etag: string): AnnexError =>
  new AnnexError(
    'precondition_failed',
    `Nothing was changed: it has changed since it was read. Read it again, and send its ETag (now ${etag}).`,
  )
