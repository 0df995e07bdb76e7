import type { IncomingMessage } from 'node:http'
import type { Context } from 'koa'
import { assertExact, assertShallow } from '../assert-json.ts'
import { AnnexError, requestBrokeOffError } from '../errors.ts'
import { isBrokenConnection } from './errors.ts'

const none = Buffer.alloc(0)
/** A longer body is streamed to its script, as fast as the script reads it. */
const wholeBytes = 64 * 1024

/**
 * Reads the bytes of a request's body.
 *
 * @throws AnnexError `body_too_large`; `bad_request` when the body breaks off or its framing is not HTTP
 */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
  if (Number(length ?? 0) > maxBytes) return Promise.reject(tooLarge(maxBytes))
  // RFC 9112, 6.3: a request with neither header has no body.
  if (encoding === undefined && Number(length ?? 0) === 0) return Promise.resolve(none)
  if (request.destroyed) return Promise.reject(requestBrokeOffError())
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const take = (chunk: Buffer) => {
      size += chunk.length
      chunks.push(chunk)
      if (size <= maxBytes) return
      // The rest is received and dropped: a visitor who is still sending would not read the answer.
      request.off('data', take).resume()
      reject(tooLarge(maxBytes))
    }
    // Listeners cost a tenth of an iterator's time for a small body. `on` avoids the wrapper that `once` makes.
    request.on('data', take)
    request.on('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)))
    request.on('error', (error) => reject(isBrokenConnection(error) ? requestBrokeOffError() : error))
    // `close` also follows `end`.
    request.on('close', () => {
      if (!request.readableEnded) reject(requestBrokeOffError())
    })
  })
}

const tooLarge = (maxBytes: number): AnnexError =>
  new AnnexError('body_too_large', `The body is larger than ${maxBytes} bytes.`)

/** Gives a short body as a buffer, and a long one as a stream: the request itself. */
export type ReadOrStream = (request: IncomingMessage, maxBytes: number) => Promise<Buffer> | IncomingMessage

type PendingRead = {
  request: IncomingMessage
  maxBytes: number
  resolve: (body: Buffer | Promise<Buffer>) => void
}

/**
 * Reads short bodies together, once Node has read all connections: most have arrived with their head by then.
 * Listeners on each request would cost a quarter of its time. Requests without a body wait too, so that requests that
 * arrive together reach their sandboxes together.
 *
 * @returns a function whose promises reject as those of `readBody`
 */
export function createReadOrStream(): ReadOrStream {
  let pending: PendingRead[] = []

  function readPending(): void {
    const reads = pending
    pending = []
    for (const { request, maxBytes, resolve } of reads) {
      resolve(readArrived(request) ?? readBody(request, maxBytes))
    }
  }

  return (request, maxBytes) => {
    const bytes = lengthOf(request)
    if (bytes > maxBytes && bytes !== Number.POSITIVE_INFINITY) return readBody(request, maxBytes)
    if (bytes > wholeBytes) return request
    return new Promise((resolve) => {
      pending.push({ request, maxBytes, resolve })
      if (pending.length === 1) setImmediate(readPending)
    })
  }
}

/** The length that a request declares. RFC 9112, 6.3: a request that declares none has no body. */
function lengthOf({ headers }: IncomingMessage): number {
  return headers['transfer-encoding'] === undefined
    ? Number(headers['content-length'] ?? 0)
    : Number.POSITIVE_INFINITY
}

/** @returns null while a part of the body is missing */
function readArrived(request: IncomingMessage): Buffer | null {
  const hasArrived = request.complete && !request.destroyed && request.readableLength === lengthOf(request)
  return hasArrived ? (request.read() as Buffer | null) : null
}

/**
 * Any JSON value, nested at most 64 deep. A byte order mark is left out.
 *
 * @throws AnnexError `bad_request`, `body_too_large`, `encoding_unsupported`
 */
export async function readJson(context: Context, maxBytes: number): Promise<unknown> {
  assertPlain(context.req)
  const text = decode(await readBody(context.req, maxBytes))
  assertShallow(text)
  let value: unknown
  try {
    value = JSON.parse(text === '' ? '{}' : text)
  } catch (cause) {
    throw new AnnexError('bad_request', 'The body is not JSON.', { cause })
  }
  assertExact(text)
  return value
}

const plainCharset = /^(?:utf-?8|us-ascii)$/i

/** @throws AnnexError `encoding_unsupported` for a compressed body, and one that says that it is no UTF-8 */
function assertPlain({ headers }: IncomingMessage): void {
  const { 'content-encoding': encoding = 'identity', 'content-type': type = '' } = headers
  if (encoding.trim().toLowerCase() !== 'identity') {
    throw new AnnexError('encoding_unsupported', 'The body is compressed. Send it without Content-Encoding.')
  }
  const charset = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(type)?.[1] ?? 'utf-8'
  if (plainCharset.test(charset)) return
  throw new AnnexError('encoding_unsupported', 'The body has another charset than UTF-8. Send it as UTF-8.')
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** U+FFFD for wrong bytes would be stored in place of a password. @throws AnnexError `bad_request` */
function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    throw new AnnexError('bad_request', 'The body has bytes that are no UTF-8.', { cause })
  }
}

const shortNamePattern = '^[a-z0-9]+(-[a-z0-9]+)*$'
export const longestShortName = 63

/** True for a name in an address: a subdomain, a slug. */
export const isShortName = (text: string): boolean =>
  text.length <= longestShortName && new RegExp(shortNamePattern).test(text)
