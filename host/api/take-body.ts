import type { IncomingMessage } from 'node:http'
import { readBody } from './body.ts'

/** A longer body crosses to its script in pieces, as fast as the script reads it. */
const wholeBytes = 64 * 1024

/** The body of a request to a script: whole where it is short, else the request itself, which is a stream. */
export type TakeBody = (request: IncomingMessage, maxBytes: number) => Promise<Buffer> | IncomingMessage

type Awaited = {
  request: IncomingMessage
  maxBytes: number
  resolve: (body: Buffer | Promise<Buffer>) => void
}

/**
 * Most bodies come in one piece with their head, and are there once Node has read what has come in on all connections: they
 * are looked for then, all together. To listen for each from the start takes Node a quarter of a request's time. Requests
 * without a body wait as well: all that have come in together then go to their sandboxes in one piece.
 *
 * @returns a function whose promises reject as those of `readBody`
 */
export function createTakeBody(): TakeBody {
  let awaited: Awaited[] = []

  function look(): void {
    const all = awaited
    awaited = []
    for (const { request, maxBytes, resolve } of all)
      resolve(readHere(request) ?? readBody(request, maxBytes))
  }

  return (request, maxBytes) => {
    const bytes = bytesOf(request)
    if (bytes > maxBytes && bytes !== Number.POSITIVE_INFINITY) return readBody(request, maxBytes)
    if (bytes > wholeBytes) return request
    return new Promise((resolve) => {
      awaited.push({ request, maxBytes, resolve })
      if (awaited.length === 1) setImmediate(look)
    })
  }
}

/** What is said of a body's length. RFC 9112, 6.3: a request without a word of it has none. */
function bytesOf({ headers }: IncomingMessage): number {
  return headers['transfer-encoding'] === undefined
    ? Number(headers['content-length'] ?? 0)
    : Number.POSITIVE_INFINITY
}

/** A body that has come in full already. */
function readHere(request: IncomingMessage): Buffer | null {
  const isHere = request.complete && !request.destroyed && request.readableLength === bytesOf(request)
  return isHere ? (request.read() as Buffer | null) : null
}
