import { AnnexError } from '../errors.ts'
import type { PreparedLevel } from '../installations/prepare-dispatch.ts'
import { responseOf } from '../sandbox/sandboxes.ts'
import type { ScriptResponse } from '../sandbox/target.ts'
import { type Asking, type AskParts, askScript } from './ask-script.ts'

/**
 * `location` is the path of the page that the visitor asked for, and empty for the first page. `logout`: the visitor signs
 * out. `cookies` are those that the script has set for the sign-in.
 */
export type Visit = { location?: string; action?: 'logout'; cookies: Record<string, string> }

/**
 * A script appends `location` to the address of its site, and a signed token to that. So it is a path and no more: a visitor
 * could be led to `//elsewhere.example`, and the token with them. Without its first `/` it may begin with a plain word alone:
 * behind an address without a last `/`, `.example` would become a part of the host. Browsers drop control characters.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const pathOnly = /^(?:\/(?![/\\])|[\w~-]+(?![^/?#]))[^\\\u0000-\u0020]*$/
const longestLocation = 2048
const anySite = 'https://site.invalid'

/**
 * Resolves a location as a browser will, and then checks it: `/a/..//elsewhere.example` is `//elsewhere.example`, and a script may
 * decode `/%2Felsewhere.example`.
 *
 * @throws AnnexError `bad_request` for a location that is no path
 */
function resolveLocation(location: string): string {
  if (location === '') return ''
  const isPath = location.length <= longestLocation && pathOnly.test(location)
  const url = isPath ? URL.parse(location, anySite) : null
  if (url !== null && url.origin === anySite && !leadsElsewhere(url.pathname)) {
    const path = location.startsWith('/') ? url.pathname : url.pathname.slice(1)
    const resolved = path + url.search + url.hash
    if (resolved === '' || pathOnly.test(resolved)) return resolved
  }
  throw new AnnexError('bad_request', 'location is the path of a page, such as /guides/start.')
}

/** Browsers drop control characters, and take `\` for `/`. Broken escapes stay as they are. */
function leadsElsewhere(pathname: string): boolean {
  const decoded = pathname.replace(/%([0-7][0-9a-f])/gi, (_, hex) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is dropped
  return /^[/\\]{2}/.test(decoded.replace(/[\u0000-\u0020]/g, ''))
}

/**
 * Asks a site's script to sign a visitor in or out. Its answer is mostly a redirect, and hostile input for a browser: it is
 * sent as the answers of public endpoints are.
 *
 * @param send sends the answer. Its errors go to the integration's log too
 * @throws AnnexError `bad_request` for a location that is no path, `missing_scope`, or the error that ended the dispatch
 */
export function authenticateVisitor(
  parts: AskParts,
  prepared: PreparedLevel,
  { location = '', action, cookies }: Visit,
  asking: Asking,
  send: (answer: ScriptResponse) => void,
): Promise<void> {
  const path = resolveLocation(location)
  const question = {
    type: 'fetch_visitor_authentication',
    ...(path !== '' && { location: path }),
    ...(action && { action }),
    cookies,
  }
  const scoped = { ...asking, scope: 'site:visitor:auth' }
  return askScript(parts, prepared, question, scoped, (outcome) => send(responseOf(outcome)))
}
