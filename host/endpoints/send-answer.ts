import { type ServerResponse, validateHeaderName, validateHeaderValue } from 'node:http'
import { Readable } from 'node:stream'
import type { AnswerHead } from '../../runtime/bridge.ts'
import { AnnexError, messageOf } from '../errors.ts'
import type { LevelRef } from '../sandbox/level-ref.ts'
import type { ScriptResponse } from '../sandbox/target.ts'
import { toAnswerHeaders } from './endpoint-headers.ts'

/** A body of up to this size is sent as one text with its head: one buffer, copied once. */
const oneWriteBytes = 8 * 1024

/** RFC 9110, 15.3.5 and 15.4.5: an answer with these has no body. */
const bodyless: ReadonlySet<number> = new Set([204, 304])

/** The answer of a script. A body that is a stream is read to its end, or destroyed. */
export type ScriptAnswer = ScriptResponse & {
  /** Cookies are confined to its endpoint. */
  level: LevelRef
  requestId: string
  /** The host's own cookies. */
  cookies?: readonly string[]
}

/**
 * Sends the answer of a script. Node checks each name and value of the head, and sends nothing when HTTP cannot carry one.
 *
 * @throws AnnexError `script_failed` when the head cannot be sent; another answer can still be sent then
 */
export function sendAnswer(response: ServerResponse, answer: ScriptAnswer): void {
  const { head, body, level, requestId, cookies = [] } = answer
  const hasBody = !bodyless.has(head.status)
  const headers = toAnswerHeaders(head.headers, level, requestId)
  for (const cookie of cookies) headers.push('set-cookie', cookie)
  // The length is last: when a header before it is refused, Node must not know a length.
  const length = lengthOf(body, head, response.req.method)
  if (hasBody && length !== undefined) headers.push('content-length', String(length))
  try {
    // After Node has begun a head without a body, the answer that reports an error could have no body.
    if (!hasBody) assertSendable(head)
    writeHead(response, head, headers)
  } catch (cause) {
    // Node keeps it, and would put it on the answer that reports the error.
    response.statusMessage = ''
    if (body instanceof Readable) body.destroy()
    throw new AnnexError('script_failed', `The script's answer cannot be sent: ${messageOf(cause)}.`, {
      cause,
    })
  }
  if (body instanceof Readable) sendStream(response, body, hasBody ? length : 0)
  else if (hasBody) sendBytes(response, body)
  else response.end()
}

/** An answer to HEAD may declare the length of the body that GET would have. */
function lengthOf(
  body: ScriptAnswer['body'],
  { length, headers }: AnswerHead,
  method: string | undefined,
): number | undefined {
  const known = body instanceof Readable ? length : body.byteLength
  if (method !== 'HEAD' || (known !== undefined && known > 0)) return known
  const said = headers.find(([name]) => name.toLowerCase() === 'content-length')?.[1] ?? ''
  return /^\d{1,15}$/.test(said) ? Number(said) : undefined
}

function sendBytes(response: ServerResponse, body: Uint8Array): void {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  if (bytes.byteLength > oneWriteBytes) response.end(bytes)
  else response.end(bytes.toString('latin1'), 'latin1')
}

/**
 * Sends a stream as fast as the visitor reads it. When the stream breaks off, the connection is closed, so that the visitor
 * sees an incomplete answer. A visitor who leaves ends the stream.
 *
 * @param length the length that the script declared. Bytes beyond it would be read as the answer to the next request on
 *   this connection, which behind a proxy may belong to another visitor
 */
function sendStream(response: ServerResponse, body: Readable, length: number | undefined): void {
  if (length === 0 || response.req.method === 'HEAD') {
    body.destroy()
    response.end()
    return
  }
  // The first chunk may be late.
  response.flushHeaders()
  const breakOff = () => {
    response.destroy()
    body.destroy()
  }
  if (length !== undefined) holdTo(length, body, breakOff)
  // `pipeline` would pass on the script's error as one of the host.
  body.once('error', breakOff)
  response.once('close', () => body.destroy())
  body.pipe(response)
}

function holdTo(length: number, body: Readable, breakOff: () => void): void {
  let left = length
  body.on('data', (chunk: Uint8Array) => {
    left -= chunk.byteLength
    if (left < 0) breakOff()
  })
  body.once('end', () => {
    if (left > 0) breakOff()
  })
}

function writeHead(
  response: ServerResponse,
  { status, statusText }: Pick<AnswerHead, 'status' | 'statusText'>,
  headers: string[],
): void {
  if (statusText) response.writeHead(status, statusText, headers)
  else response.writeHead(status, headers)
}

function assertSendable({ statusText, headers }: AnswerHead): void {
  if (statusText) validateHeaderValue('status text', statusText)
  for (const [name, value] of headers) {
    validateHeaderName(name)
    validateHeaderValue(name, value)
  }
}
