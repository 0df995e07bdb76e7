import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'

/** The address at which a browser sees Annex, and what browsers allow there. */
export type OwnAddress = {
  origin: string
  /** Without a port. IPv6 addresses are in brackets. */
  hostname: string
  isHttps: boolean
  /** On this machine: browsers take such an address for secure, without HTTPS. */
  isLoopback: boolean
  /** A passkey belongs to a host name. */
  isName: boolean
  /** Ends the names of cookies. Cookies know no ports, and without PUBLIC_URL there may be several Annexes at one host. */
  cookieSuffix: string
}

/**
 * PUBLIC_URL is the address where it is set: a proxy may send any `Host`. Without it the request names the address.
 *
 * @param publicUrl empty without PUBLIC_URL
 */
export function ownAddressOf({ headers }: IncomingMessage, publicUrl: string): OwnAddress {
  const url = publicUrl === '' ? parseHost(headers.host) : new URL(publicUrl)
  const { origin, hostname, protocol, port } = url
  const isHttps = protocol === 'https:'
  return {
    ...{ origin, hostname, isHttps },
    isLoopback: isLoopback(hostname),
    isName: isIP(hostname.replace(/^\[(.*)\]$/, '$1')) === 0,
    cookieSuffix: publicUrl === '' ? `_${port || 80}` : '',
  }
}

const parseHost = (host: string | undefined): URL =>
  URL.parse(`http://${host}`) ?? new URL('http://localhost')

/** The address of a page that takes a one-time link. The token stands after the `#`, so no server on the way sees it. */
export const linkUrl = (origin: string, page: string, link: string): string =>
  new URL(`${page}#${link}`, toNamed(origin)).href

/** At an IP address of this machine a page gets a name: passkeys need one. */
export function toNamed(origin: string): string {
  const url = new URL(origin)
  if (isLoopback(url.hostname)) url.hostname = url.hostname.endsWith('localhost') ? url.hostname : 'localhost'
  return url.origin
}

const isLoopback = (hostname: string): boolean =>
  /^(?:(?:.+\.)?localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname)
