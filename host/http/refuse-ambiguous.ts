import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Middleware } from 'koa'
import { AnnexError } from '../errors.ts'

/**
 * Refuses a request whose end (request smuggling) or host a proxy may read in another way than Node. RFC 9112, 3.2 and 6.1.
 * Later requests of its connection are refused too: they may be parts of the first.
 */
export function refuseAmbiguousRequests(): Middleware {
  const refused = new WeakSet<Socket>()
  return (context, next) => {
    const { req } = context
    const problem = refused.has(req.socket) ? 'It follows a request that was refused.' : problemOf(req)
    if (problem === undefined) return next()
    refused.add(req.socket)
    context.set('connection', 'close')
    throw new AnnexError('bad_request', problem)
  }
}

function problemOf({ httpVersion, headers, rawHeaders }: IncomingMessage): string | undefined {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') {
    return `The request is of HTTP/${httpVersion}; send it as HTTP/1.1.`
  }
  const encoding = headers['transfer-encoding']
  if (encoding !== undefined) {
    if (httpVersion === '1.0') return 'HTTP/1.0 has no Transfer-Encoding; send the body with its length.'
    if (encoding.toLowerCase() !== 'chunked')
      return 'The one Transfer-Encoding that Annex reads is "chunked".'
  }
  if (!hosts.test(headers.host ?? '')) return 'The header Host is no host with or without a port.'
  if (countHosts(rawHeaders) > 1) return 'The request has more than one header Host.'
  return undefined
}

/** RFC 3986, 3.2.2, without commas: a list of hosts is no host. */
const hosts = /^[\w.~!$&'()*+;=%:[\]-]*$/

/** Node's `headers` has the first Host alone. */
function countHosts(rawHeaders: readonly string[]): number {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1
  }
  return count
}
