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
  if (given !== '') {
    const etags = readTags(given)
    return (etag) => {
      if (!etags.some((one) => isSameTag(one, etag))) throw stale(etag)
    }
  }
  if (!isPerson(caller)) return () => {}
  const text =
    'Send the header If-Match with the ETag of what this edit changes, as it was read, or "*" to replace any version.'
  throw new AnnexError('precondition_required', text)
}

/** As `readIfMatch`, for a record that may not be there yet: who makes it sends no ETag. */
export const readIfMatchOrNew =
  (context: Context, caller: Caller) =>
  (etag: string | undefined): void => {
    if (etag === undefined && context.get('if-match') === '') return
    readIfMatch(context, caller)(etag ?? 'none')
  }

/** The ETags of a list, each without the mark `W/`. */
const readTags = (list: string): string[] =>
  [...list.matchAll(/(?<=^|,)[ \t]*(?:W\/)?("[^"]*")[ \t]*(?=,|$)/g)].map(([, etag = '']) => etag)

/** As Apache, Caddy and lighttpd (`-gzip`), Jetty (`--gzip`) and older proxies (`;gzip`) write it. */
const compression = /^(?:--?|;)(?:gzip|deflate|br|zstd)"$/

/**
 * True for one version of a record. A proxy that compresses an answer marks its ETag as weak, or adds the name of the
 * compression: the record stays the same.
 */
function isSameTag(given: string, etag: string): boolean {
  const opened = etag.slice(0, -1)
  return given === etag || (given.startsWith(opened) && compression.test(given.slice(opened.length)))
}

const stale = (etag: string): AnnexError =>
  new AnnexError(
    'precondition_failed',
    `Nothing was changed: it has changed since it was read. Read it again, and send its ETag (now ${etag}).`,
  )
