import { type ServerResponse, validateHeaderName, validateHeaderValue } from 'node:http'
import { Readable } from 'node:stream'
import type { AnswerHead } from '../../runtime/bridge.ts'
import { AnnexError, messageOf } from '../errors/annex-error.ts'
import { toAnswerHeaders } from './endpoint-headers.ts'

/** Up to here a body goes out as one text with its head: one buffer, copied once, rather than a list of them. */
const oneWriteBytes = 8 * 1024

/** Of these, RFC 9110 (15.3.5, 15.4.5) lets none have a body. */
const bodyless: ReadonlySet<number> = new Set([204, 304])

/** What a script has said. A body that is a stream is read to its end, or destroyed. */
export type ScriptAnswer = {
  head: AnswerHead
  body: Uint8Array | Readable
  /** Of the endpoint: its cookies go there and nowhere else. */
  path: string
  requestId: string
}

/**
 * Answers with what a script has said. The head is written in one go: Node checks each name and value once, and
 * nothing is sent when one of them is none that HTTP can carry.
 *
 * @throws AnnexError `script_failed` when the head cannot be sent; another answer can still be given then
 */
export function sendAnswer(response: ServerResponse, { head, body, path, requestId }: ScriptAnswer): void {
  const hasBody = !bodyless.has(head.status)
  const headers = toAnswerHeaders(head.headers, path, requestId)
  // Last: when a header before it is refused, Node must not have taken note of a length.
  const length = lengthOf(body, head, response.req.method)
  if (hasBody && length !== undefined) headers.push('content-length', String(length))
  try {
    // Once Node has begun with such a head, no answer about what is wrong with it could have a body.
    if (!hasBody) assertSendable(head)
    writeHead(response, head, headers)
  } catch (cause) {
    // Node has kept it, and would put it on the answer that says what went wrong.
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

/** To HEAD a script may answer without the body that GET has, and say how long that is. */
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
 * As fast as it is read. When the body breaks off its connection is closed, so that the visitor sees that it is not
 * whole; a visitor who goes away ends the stream.
 *
 * @param length what was said of it. It is the script's word: what came after would be read as the answer to the next
 * request on this connection, which may be somebody else's behind a proxy
 */
function sendStream(response: ServerResponse, body: Readable, length: number | undefined): void {
  if (length === 0 || response.req.method === 'HEAD') {
    body.destroy()
    response.end()
    return
  }
  // The first piece may be long in coming.
  response.flushHeaders()
  const breakOff = () => {
    response.destroy()
    body.destroy()
  }
  if (length !== undefined) holdTo(length, body, breakOff)
  // Without the error, which is the script's: `pipeline` would hand it on as one of this host.
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
