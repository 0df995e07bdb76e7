import { isDropped } from './dropped-headers.ts'

/**
 * The head of a visitor's request as it crosses to a script (`runtime/bridge.ts`), without what no script gets: hop-by-hop
 * headers, and the console's own cookies.
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
 * The headers of a script's answer: names and values in turn. The answer is a stranger's: a browser must not run it
 * with this host's origin, keep it from being looked at twice, or send its cookies anywhere but to its own endpoint.
 */
export function toAnswerHeaders(
  headers: readonly (readonly [string, string])[],
  endpointPath: string,
  requestId: string,
): string[] {
  // First of all, whatever comes after. A second policy can only narrow what the script's own allows.
  const all = ['content-security-policy', sandboxPolicy, 'x-content-type-options', 'nosniff']
  all.push('x-request-id', requestId)
  for (const [name, value] of headers) {
    const lower = name.toLowerCase()
    if (lower === 'set-cookie') all.push('set-cookie', confineCookie(value, endpointPath))
    else if (!hopByHop.has(lower) && !isDropped(lower)) all.push(name, value)
  }
  return all
}

/** No `allow-same-origin`: the page gets an origin of its own, and with it neither cookies nor storage of ours. */
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

const ownCookie = /^annex[-_]/i

function withoutOwnCookies(header: string): string {
  return header
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair !== '' && !ownCookie.test(pair.replace(/^[\s=]+/, '')))
    .join('; ')
}

/** `Path` becomes the endpoint's own and `Domain` goes: the cookie comes back here and nowhere else. */
function confineCookie(cookie: string, endpointPath: string): string {
  const [pair = '', ...attributes] = cookie.split(';')
  const kept = attributes.filter((attribute) => !/^\s*(path|domain)\s*=/i.test(attribute))
  // `=annex_session=x` is a cookie without a name; a browser sends it back as `annex_session=x` all the same.
  const name = pair.replace(/^[\s=]+/, '').trimEnd()
  // A name of ours, or one whose prefix promises a host-wide path, would not be this script's to set.
  const isForbidden = ownCookie.test(name) || /^__(host|secure)-/i.test(name)
  return [isForbidden ? `x-${name}` : name, ...kept.map((part) => part.trim()), `Path=${endpointPath}`].join(
    '; ',
  )
}
