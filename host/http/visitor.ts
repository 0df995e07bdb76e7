import type { IncomingMessage } from 'node:http'
import { isIP, type Socket } from 'node:net'
import ipaddr from 'ipaddr.js'
import { hopsHeader } from '../egress/loop-guard.ts'
import { isPublicAddress } from '../egress/public-address.ts'

/** Headers by which a proxy names its client. Some proxies send none: so PUBLIC_URL counts as a proxy, too. */
const proxyHeaders = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
]

const loopbackAddress = /^(?:127\.|::1$|::ffff:127\.)/
/** DNS rebinding: a foreign name that resolves to 127.0.0.1 would let a web page ask through a browser of this machine. */
const loopbackHost = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i

/** True for a person on this machine: the request passed no proxy, and is of no script and no foreign web page. */
export function isFromHere({ headers, socket }: IncomingMessage): boolean {
  return (
    loopbackAddress.test(socket.remoteAddress ?? '') &&
    loopbackHost.test(headers.host ?? '') &&
    headers[hopsHeader] === undefined &&
    headers.origin === undefined &&
    proxyHeaders.every((name) => headers[name] === undefined)
  )
}

/**
 * The address that a request counts for: an IPv4 address, or the /64 of an IPv6 address, as one visitor has all of it.
 *
 * A header is believed only behind a proxy (PUBLIC_URL is set), and only from a connection of a private address. Of it only the last
 * entry counts: the proxy wrote it. A visitor wrote those before it, or could have.
 */
export const visitorOf = (request: IncomingMessage, isBehindProxy: boolean): string =>
  networkOf(addressOf(request, isBehindProxy))

/** The address of the visitor, by the same rule. */
export function addressOf({ headers, socket }: IncomingMessage, isBehindProxy: boolean): string {
  const peer = plainAddress(socket.remoteAddress ?? '')
  if (!isTrustedProxy(peer, isBehindProxy)) return peer
  const forwarded = String(headers['x-forwarded-for'] ?? '')
  const last = plainAddress(withoutPort(forwarded.slice(forwarded.lastIndexOf(',') + 1).trim()))
  return isIP(last) === 0 ? peer : last
}

/**
 * The network that a connection counts for.
 *
 * @returns undefined for a trusted proxy: it holds the connections of all visitors
 */
export function networkOfPeer({ remoteAddress = '' }: Socket, isBehindProxy: boolean): string | undefined {
  const peer = plainAddress(remoteAddress)
  return isTrustedProxy(peer, isBehindProxy) ? undefined : networkOf(peer)
}

const isTrustedProxy = (peer: string, isBehindProxy: boolean): boolean =>
  isBehindProxy && !isPublicAddress(peer)

/** Some proxies write `192.0.2.1:4711`, `[2001:db8::1]` or `[2001:db8::1]:4711`. */
const withoutPort = (address: string): string =>
  address.replace(/^\[([^\]]*)\](?::\d+)?$/, '$1').replace(/^([\d.]+):\d+$/, '$1')

/** A socket that takes both families shows an IPv4 address as `::ffff:192.0.2.1`. */
function plainAddress(address: string): string {
  if (isIP(address) !== 6) return address
  const parsed = ipaddr.IPv6.parse(address)
  return parsed.isIPv4MappedAddress() ? parsed.toIPv4Address().toString() : address
}

function networkOf(address: string): string {
  if (isIP(address) !== 6) return address
  const bytes = ipaddr.parse(address).toByteArray().slice(0, 8)
  return `${Buffer.from(bytes).toString('hex')}/64`
}
