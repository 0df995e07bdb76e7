import type { WireBody } from '../../bridge.ts'
import { decodeUtf8, encodeUtf8 } from '../encoding/utf8.ts'
import { Bytes, copyBuffer } from '../primordials.ts'
import {
  isDisturbed,
  isReadableStream,
  type ReadableStream,
  ReadableStream as Stream,
} from '../streams/streams.ts'

/**
 * The body of a Request or Response. Most are text or bytes that are read once: they become a stream only
 * where somebody asks for `.body`.
 */
export type Body = {
  source: string | Uint8Array<ArrayBuffer> | undefined
  stream: ReadableStream | undefined
  used: boolean
}

export const bodyOfSource = (source: string | Uint8Array<ArrayBuffer>): Body => ({
  source,
  stream: undefined,
  used: false,
})

export const bodyOfStream = (stream: ReadableStream): Body => ({ source: undefined, stream, used: false })

/** The body that came across the wall: whole as text or bytes, or a stream. */
export const bodyFromWire = (body: WireBody | ReadableStream | undefined): Body | null => {
  if (body === undefined) return null
  if (typeof body === 'string') return bodyOfSource(body)
  return isReadableStream(body) ? bodyOfStream(body) : bodyOfSource(new Bytes(body as ArrayBuffer))
}

export const isBodyUsed = (body: Body | null): boolean =>
  body !== null && (body.used || (body.stream !== undefined && isDisturbed(body.stream)))

/** True where a body can no longer be taken: it was read, or somebody holds a reader of it. */
export const isBodyUnusable = (body: Body | null): boolean =>
  isBodyUsed(body) || body?.stream?.locked === true

/** The stream behind `.body`, made on first use. */
export const streamOfBody = (body: Body): ReadableStream => {
  if (body.stream !== undefined) return body.stream
  const bytes = body.source === undefined ? new Bytes(0) : bytesOfSource(body.source)
  body.stream = streamOfBytes(bytes, body.used)
  body.source = undefined
  return body.stream
}

/**
 * Takes the whole body. At once where it needs no stream; `what` names its owner in the TypeError for a body
 * that was already read. `undefined` stands for no body.
 */
export const bodyBytes = (
  body: Body | null,
  what: string,
): ArrayBuffer | Promise<ArrayBuffer> | undefined => {
  if (body === null) return undefined
  if (isBodyUnusable(body)) throw new TypeError(`The body of the ${what} has already been read, or is locked`)
  body.used = true
  if (body.stream !== undefined) return readAll(body.stream)
  return exactBuffer(bytesOfSource(body.source ?? ''))
}

/** A longer body crosses in pieces. In bytes, or for text in characters. */
const wholeLimit = 64 * 1024

/** On its way across the wall: whole as text or as a buffer, or where it is long, piece by piece. */
export type OutgoingBody = string | ArrayBuffer | Uint8Array<ArrayBuffer> | ReadableStream

/**
 * Takes the body for its way across the wall. `what` names its owner in the TypeError for a body that was already read.
 */
export const takeBody = (body: Body | null, what: string): OutgoingBody | undefined => {
  if (body === null) return undefined
  if (isBodyUnusable(body)) throw new TypeError(`The body of the ${what} has already been read, or is locked`)
  body.used = true
  if (body.stream !== undefined) return body.stream
  const source = body.source ?? ''
  if (source.length > wholeLimit) return bytesOfSource(source)
  return typeof source === 'string' ? source : exactBuffer(source)
}

/** Takes the whole body as bytes. */
export const consumeBytes = async (body: Body | null, what: string): Promise<Uint8Array<ArrayBuffer>> =>
  new Bytes((await bodyBytes(body, what)) ?? new ArrayBuffer(0))

/** Takes the whole body as text. A text that was never bytes is not encoded and decoded for it. */
export const consumeText = async (body: Body | null, what: string): Promise<string> => {
  if (body !== null && !body.used && typeof body.source === 'string') {
    body.used = true
    const text = body.source.toWellFormed()
    return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
  }
  return decodeUtf8(await consumeBytes(body, what))
}

/** A second body with the same content. Throws a TypeError where the first can no longer be read. */
export const cloneBody = (body: Body | null, what: string): Body | null => {
  if (body === null) return null
  if (isBodyUnusable(body)) throw new TypeError(`A ${what} cannot be cloned after its body was read`)
  if (body.stream === undefined) {
    // A copy: whoever reads the first body gets its bytes, and may write into them.
    const source = body.source ?? ''
    return bodyOfSource(typeof source === 'string' ? source : source.slice())
  }
  const [first, second] = body.stream.tee()
  body.stream = first
  return bodyOfStream(second)
}

const bytesOfSource = (source: string | Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> =>
  typeof source === 'string' ? encodeUtf8(source) : source

const exactBuffer = (bytes: Uint8Array<ArrayBuffer>): ArrayBuffer =>
  bytes.byteLength === bytes.buffer.byteLength
    ? bytes.buffer
    : copyBuffer(bytes.buffer, bytes.byteOffset, bytes.byteOffset + bytes.byteLength)

const streamOfBytes = (bytes: Uint8Array<ArrayBuffer>, spent: boolean): ReadableStream =>
  new Stream({
    type: 'bytes',
    pull(controller) {
      if (!spent && bytes.byteLength > 0) controller.enqueue(bytes)
      controller.close()
      controller.byobRequest?.respond(0)
    },
  }) as ReadableStream

const readAll = async (stream: ReadableStream): Promise<ArrayBuffer> => {
  const reader = stream.getReader()
  const chunks: Uint8Array[] = []
  let length = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    // Fetch standard, "read all bytes": a chunk that is no Uint8Array fails the whole body.
    if (!(value instanceof Uint8Array))
      throw new TypeError('A body stream gave a chunk that is no Uint8Array')
    chunks.push(value)
    length += value.byteLength
  }
  const bytes = new Bytes(length)
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.byteLength
  }
  return bytes.buffer
}
