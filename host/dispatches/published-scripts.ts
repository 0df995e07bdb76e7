import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { levelsTo } from '../db/queries/levels.ts'
import { isAnnexError } from '../errors.ts'
import { statusOf } from '../installations/level-settings.ts'
import type { PreparedLevel } from '../installations/prepare-dispatch.ts'
import { isScriptsFailure } from '../installations/report-failure.ts'
import { endpointPath } from '../sandbox/level-ref.ts'
import { type Asking, type AskParts, askScript, maxAgeOf, readWhole, type WholeAnswer } from './ask-script.ts'

/** JavaScript for the visitors of a site. `maxAgeSeconds`: how long a browser may use it without asking again. */
export type PublishedScript = { body: Buffer; contentType: string; etag: string; maxAgeSeconds: number }

export type GetPublishedScript = (prepared: PreparedLevel, asking: Asking) => Promise<PublishedScript>

const maxScriptBytes = 512 * 1024
const maxKeptBytes = 32 * 1024 * 1024
/** An answer is kept as long as its script says, and so long at most. */
const longestKeptMs = 3_600_000
/** An edit or an uninstall reaches browsers that have the script after so long at most. */
const longestInBrowserSeconds = 300
/** A failing script is asked again after this time, and not for each page that is read. */
const failureMs = 10_000

/**
 * Gets a site's script from the script of its integration. Visitors that ask at once share one dispatch, and so do those that
 * ask while an answer may be cached. A new version, an edit of the settings or a rotated secret makes a new one.
 */
export function createPublishedScripts(parts: AskParts): GetPublishedScript {
  const kept = new LRUCache<string, Promise<PublishedScript>>({ maxSize: maxKeptBytes, ttlResolution: 0 })
  return async (prepared, asking) => {
    if (!isActive(prepared)) return toPublished(nothing, 0)
    const key = keyOf(prepared)
    const found = kept.get(key)
    return found ?? keep(key, ask(prepared, asking))
  }

  async function ask(prepared: PreparedLevel, asking: Asking): Promise<[PublishedScript, number]> {
    const question = { type: 'fetch_published_script' }
    const scoped = { ...asking, scope: 'site:script:inject' }
    const answer = await askScript(parts, prepared, question, scoped, (outcome) =>
      readWhole(outcome, maxScriptBytes),
    )
    const maxAgeSeconds = maxAgeOf(answer.headers.get('cache-control'))
    return [toPublished(answer, maxAgeSeconds), Math.min(maxAgeSeconds * 1000, longestKeptMs)]
  }

  function keep(key: string, asked: Promise<[PublishedScript, number]>): Promise<PublishedScript> {
    const script = asked.then(([published]) => published)
    kept.set(key, script, { size: overheadBytes })
    const settle = (keptMs: number, bytes: number) => {
      if (kept.peek(key) !== script) return
      // Storing the same value again would not change its size.
      kept.delete(key)
      if (keptMs > 0) kept.set(key, script, { size: overheadBytes + bytes, ttl: keptMs })
    }
    asked.then(
      ([{ body }, keptMs]) => settle(keptMs, body.byteLength),
      (error) => settle(isCached(error) ? failureMs : 0, 0),
    )
    return script
  }
}

/** Keys and entries count too: a site with a thousand changed settings must not fill the memory. */
const overheadBytes = 1024

/** A busy machine may have time for the next one. */
const isCached = (error: unknown): boolean =>
  isAnnexError(error) && isScriptsFailure(error) && error.code !== 'machine_busy'

/** A level that lacks settings has no script yet, and a page of its site must not say so. */
const isActive = ({ records: { manifest, own } }: PreparedLevel): boolean =>
  own?.above !== undefined && levelsTo(own).every((level) => statusOf(manifest, level) === 'active')

function keyOf({ records: { level, version, own } }: PreparedLevel): string {
  return [endpointPath(level), version.digest, own?.above?.updatedAt, own?.updatedAt].join(' ')
}

const nothing: WholeAnswer = { headers: new Map(), body: Buffer.from('/* nothing to run */') }

/** No list of types, in which a browser would take the last one. */
const javascript = /^(?:application|text)\/(?:x-)?(?:java|ecma)script(?: *; *charset=[\w-]+)?$/i

/** The answer of a stranger becomes JavaScript and nothing else: no page, no cookie, no header of its own. */
function toPublished({ headers, body }: WholeAnswer, maxAgeSeconds: number): PublishedScript {
  const type = headers.get('content-type') ?? ''
  return {
    body,
    contentType: javascript.test(type) ? type : 'text/javascript; charset=utf-8',
    etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`,
    maxAgeSeconds: Math.min(maxAgeSeconds, longestInBrowserSeconds),
  }
}
