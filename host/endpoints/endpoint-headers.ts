import { endpointPath, type LevelRef, signInPath } from '../sandbox/level-ref.ts'
import { loadsVary } from './refused-loads.ts'

/**
 * The head of a visitor's request as text for a script (`runtime/bridge.ts`). Hop-by-hop headers and Annex's own cookies
 * are left out.
 */
export function toRequestText(method: string, url: string, rawHeaders: readonly string[]): string {
  let text = `${method}\n${url}`
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? '').toLowerCase()
    const value = rawHeaders[index + 1] ?? ''
    if (hopByHop.has(name)) continue
    const kept = name === 'cookie' ? withoutOwnCookies(value) : value
    if (kept !== '') text += `\n${name}\n${kept}`
  }
  return text
}

/**
 * The headers of a script's answer: names and values in turn. The answer is hostile input for a browser: it must not run
 * with this host's origin, nor be sniffed as another type, and its cookies are sent to its own endpoint alone, or to the sign-in of
 * its own site.
 */
export function toAnswerHeaders(
  headers: readonly (readonly [string, string])[],
  level: LevelRef,
  requestId: string,
): string[] {
  // A policy of the script comes second: it can only narrow this one.
  const all = ['content-security-policy', sandboxPolicy, 'x-content-type-options', 'nosniff']
  all.push('x-request-id', requestId, 'vary', loadsVary)
  for (const [name, value] of headers) {
    const lower = name.toLowerCase()
    if (lower === 'set-cookie') all.push('set-cookie', confineCookie(value, level))
    else if (!hopByHop.has(lower) && !isDropped(lower)) all.push(name, value)
  }
  return all
}

/** Without `allow-same-origin` the page gets its own opaque origin, and so no cookies and no storage of this host. */
const sandboxPolicy =
  'sandbox allow-downloads allow-forms allow-modals allow-popups allow-popups-to-escape-sandbox allow-scripts allow-top-navigation-by-user-activation'

const hopByHop: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/**
 * Begins a cookie of Annex, with any prefix that promises a browser how it was set: `__Host-annex_session_8080`. A broken proxy
 * joins two headers with a comma, and a cookie without a name begins with `=`.
 */
const ownCookie = /(?:^|,)[\s="]*(?:__[\w-]*-)?annex[-_]/i

function withoutOwnCookies(header: string): string {
  return header
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair !== '' && !ownCookie.test(pair))
    .join('; ')
}

/**
 * The cookies that a visitor sends, without Annex's own ones. Of several with one name the first counts: browsers send that of
 * the longest path first (RFC 6265, 5.4).
 */
export function readCookies(header: string | undefined): Record<string, string> {
  const pairs = withoutOwnCookies(header ?? '').split('; ')
  return Object.fromEntries(
    pairs.toReversed().flatMap((pair) => {
      const [, name, value] = /^([^=]+)=(.*)$/.exec(pair) ?? []
      return name === undefined || value === undefined ? [] : [[name, value]]
    }),
  )
}

/**
 * Prefixes of names that promise a browser how a cookie was set, in lower case: browsers compare them in any case. Those that
 * Chrome and Firefox knew in November 2026: rfc6265bis, 4.1.3, and `netwerk/cookie/CookiePrefixes.cpp` of Firefox.
 */
const cookiePrefixes = ['__secure-', '__host-', '__http-', '__host-http-']

/**
 * Sets `Path` to the endpoint's own and drops `Domain`, so that the cookie is sent to this endpoint alone. A cookie for the
 * sign-in of the level's own site stays there.
 *
 * Attack: a script sets so many cookies that a browser forgets the session of Annex. Chromium forgets cookies without
 * `Priority=High` first, so a script may not set it.
 */
function confineCookie(cookie: string, level: LevelRef): string {
  const [pair = '', ...attributes] = cookie.split(';')
  const isPath = (attribute: string) => /^\s*path\s*=/i.test(attribute)
  const asked = attributes.findLast(isPath)?.replace(/^.*?=/, '').trim()
  const signIn = level.kind === 'site' ? signInPath(level.integration, level) : undefined
  const path = signIn !== undefined && asked === signIn ? signIn : endpointPath(level)
  const kept = attributes.filter((attribute) => !/^\s*(path|domain|priority)\s*=/i.test(attribute))
  // `=annex_session=x` is a cookie without a name, but a browser sends it back as `annex_session=x`.
  const name = pair.replace(/^[\s=]+/, '').trimEnd()
  // A script may set neither Annex's own cookies nor cookies whose prefix promises a host-wide path.
  const isForbidden =
    ownCookie.test(name) || cookiePrefixes.some((prefix) => name.toLowerCase().startsWith(prefix))
  return [isForbidden ? `x-${name}` : name, ...kept.map((part) => part.trim()), `Path=${path}`].join('; ')
}

/** A header of a script's answer that is not passed on. A `*` stands for any beginning or any ending. */
type DroppedHeader = { name: string; reason: string }

/** Headers that would affect more than their own endpoint. docs/api.md is generated from this table. */
export const droppedHeaders: readonly DroppedHeader[] = [
  { name: 'X-Accel-*', reason: 'Has nginx send another file or address, or change how it buffers.' },
  { name: 'X-Sendfile*', reason: 'Has Apache, lighttpd and others send a file of their machine.' },
  { name: 'X-Lighttpd-*', reason: 'Has lighttpd send a file of its machine.' },
  { name: 'X-Reproxy-*', reason: 'Has H2O and Perlbal send the answer of another address.' },
  { name: 'X-LiteSpeed-*', reason: 'Has LiteSpeed send another address, or empty its cache.' },
  { name: 'X-Envoy-*', reason: 'Has Envoy take this host for overloaded or failed.' },
  { name: 'Accept-CH', reason: 'Has a browser send more about itself to the whole origin.' },
  { name: 'Accept-CH-Lifetime', reason: 'Keeps what `Accept-CH` asks for.' },
  { name: 'Critical-CH', reason: 'Has a browser repeat its request with what `Accept-CH` asks for.' },
  { name: 'Secure-Session-*', reason: 'Binds a session of the whole origin to a device.' },
  { name: 'Sec-Session-*', reason: 'Is the older name of `Secure-Session-*`.' },
  { name: 'Use-As-Dictionary', reason: 'Has later answers of other paths decompressed with this one.' },
  { name: 'Set-Login', reason: 'Says for the whole origin whether its user is logged in.' },
  { name: 'IdP-SignIn-Status', reason: 'Is the older name of `Set-Login`.' },
  { name: 'Service-Worker-Allowed', reason: 'Lets a service worker answer for other paths.' },
  { name: 'Clear-Site-Data', reason: 'Deletes what a browser keeps of the whole origin.' },
  { name: 'NEL', reason: 'Has a browser report requests to the whole host.' },
  { name: 'Report-To', reason: 'Says for the whole origin where reports go.' },
  {
    name: 'Reporting-Endpoints',
    reason: 'Says where a browser sends its reports, visited addresses included.',
  },
  { name: 'Alt-Svc', reason: 'Sends later requests to the whole origin to another host or port.' },
  { name: 'Strict-Transport-Security', reason: 'Makes a browser refuse HTTP for the whole host.' },
  { name: 'Expect-CT', reason: 'Sets a rule about certificates for the whole host.' },
  { name: 'Public-Key-Pins*', reason: 'Makes a browser refuse other certificates of the whole host.' },
  { name: 'Origin-Agent-Cluster', reason: 'Decides for the whole origin how a browser isolates it.' },
  { name: 'Origin-Trial', reason: 'Turns on trials of a browser that are made for the whole origin.' },
  {
    name: 'Activate-Storage-Access',
    reason: 'Gives the frame of another site the cookies of the whole host.',
  },
  {
    name: 'Supports-Loading-Mode',
    reason: 'Lets other sites load pages ahead with the cookies of the whole host.',
  },
  { name: 'Attribution-Reporting-*', reason: 'Has a browser keep what it reports for the whole origin.' },
  { name: 'Shared-Storage-Write', reason: 'Changes what a browser keeps of the whole origin.' },
  { name: 'Observe-Browsing-Topics', reason: 'Has a browser note a visit to the whole host.' },
  { name: 'Surrogate-*', reason: 'Has a cache in front keep an answer, and name it as it likes.' },
  {
    name: '*-Cache-Control',
    reason: 'Has one cache in front keep an answer (RFC 9213): `CDN-Cache-Control`.',
  },
  { name: 'Edge-Control', reason: 'Has Akamai keep an answer.' },
  { name: 'CF-Edge-Cache', reason: 'Has Cloudflare keep an answer.' },
  { name: 'Cache-Tag*', reason: 'Names an answer in a cache in front, which empties by such names.' },
  { name: '*-Cache-Tag*', reason: 'Is `Cache-Tag` for one network: `Edge-Cache-Tag`.' },
  { name: 'xkey', reason: 'Is `Surrogate-Key` for Varnish.' },
  { name: 'X-Middleware-*', reason: 'Has Next.js in front answer with another address.' },
  { name: 'Content-Length', reason: 'Is counted by Annex.' },
  { name: 'X-Content-Type-Options', reason: 'Is set by Annex.' },
  { name: 'X-Request-Id', reason: 'Is set by Annex.' },
]

const toExpression = ({ name }: DroppedHeader) => name.toLowerCase().replaceAll('*', '.*')
const dropped = new RegExp(`^(?:${droppedHeaders.map(toExpression).join('|')})$`)

/** @param name in lower case */
const isDropped = (name: string): boolean => dropped.test(name)
