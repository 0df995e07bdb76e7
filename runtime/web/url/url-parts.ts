/** The components of a URL, as the getters of the URL interface answer them. */
export type UrlParts = {
  protocol: string
  username: string
  password: string
  host: string
  hostname: string
  port: string
  pathname: string
  search: string
  hash: string
}

/**
 * The components of a href that the URL parser has written. A serialized URL needs no parser: each component ends
 * where the delimiter of the next one stands, and no delimiter stands unescaped in a component before it.
 */
export const splitHref = (href: string): UrlParts => {
  const schemeEnd = href.indexOf(':') + 1
  const hashAt = href.indexOf('#')
  const beforeHash = hashAt === -1 ? href.length : hashAt
  const queryAt = href.indexOf('?')
  const pathEnd = queryAt === -1 || queryAt > beforeHash ? beforeHash : queryAt
  const parts: UrlParts = {
    protocol: href.slice(0, schemeEnd),
    username: '',
    password: '',
    host: '',
    hostname: '',
    port: '',
    pathname: '',
    search: beforeHash - pathEnd > 1 ? href.slice(pathEnd, beforeHash) : '',
    hash: href.length - beforeHash > 1 ? href.slice(beforeHash) : '',
  }
  if (!href.startsWith('//', schemeEnd)) {
    // "/." keeps a path that begins with two slashes from being read as a host.
    const pathStart = href.startsWith('/.//', schemeEnd) ? schemeEnd + 2 : schemeEnd
    parts.pathname = href.slice(pathStart, pathEnd)
    return parts
  }
  const slashAt = href.indexOf('/', schemeEnd + 2)
  const pathStart = slashAt === -1 || slashAt > pathEnd ? pathEnd : slashAt
  parts.pathname = href.slice(pathStart, pathEnd)
  splitAuthority(parts, href.slice(schemeEnd + 2, pathStart))
  return parts
}

const splitAuthority = (parts: UrlParts, authority: string): void => {
  const at = authority.indexOf('@')
  if (at !== -1) {
    const credentials = authority.slice(0, at)
    const colon = credentials.indexOf(':')
    parts.username = colon === -1 ? credentials : credentials.slice(0, colon)
    parts.password = colon === -1 ? '' : credentials.slice(colon + 1)
  }
  parts.host = authority.slice(at + 1)
  // A colon inside of brackets belongs to an IPv6 address.
  const colon = parts.host.lastIndexOf(':')
  const hasPort = colon > parts.host.lastIndexOf(']')
  parts.hostname = hasPort ? parts.host.slice(0, colon) : parts.host
  parts.port = hasPort ? parts.host.slice(colon + 1) : ''
}
