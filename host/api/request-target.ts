/** The path and query that a request names. */
export type Target = { path: string; search: string }

const absolute = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i

/** Splits a request's target, which may be a whole URL (RFC 9112, 3.2.2). Path and query stay as they were sent. */
export function splitTarget(url: string): Target {
  const rest = url.startsWith('/') ? url : url.replace(absolute, '')
  const hash = rest.indexOf('#')
  const whole = hash < 0 ? rest : rest.slice(0, hash)
  const query = whole.indexOf('?')
  return query < 0 ? { path: whole, search: '' } : { path: whole.slice(0, query), search: whole.slice(query) }
}
