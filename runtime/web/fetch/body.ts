import type { WireBody } from '../../bridge.ts'
import { structuredClone } from '../clone/structured-clone.ts'
import { decodeUtf8, encodeUtf8 } from '../encoding/utf8.ts'
import { Bytes, copyBuffer, NativePromise } from '../primordials.ts'
import { knownLength, withLength } from '../streams/known-length.ts'
import { readChunks } from '../streams/read-chunks.ts'
import {
  isByteStream,
  isDisturbed,
  isReadableStream,
  type ReadableStream,
  ReadableStream as Stream,
  TransformStream,
} from '../streams/streams.ts'

/**
 * The body of a Request or Response. Most are text or bytes that are read once: they become a stream when
 * the script reads `.body`.
 */
export type Body = {
  /** Kept beside a stream that was made of it: until that is read, the body can be sent twice, for a redirect. */
  source: string | Uint8Array<ArrayBuffer> | undefined
  stream: ReadableStream | undefined
  used: boolean
  /** Of the fetch that it came from: once it aborts, what was not read yet is lost (Fetch standard, "abort"). */
  signal?: { readonly aborted: boolean; readonly reason: unknown }
}

export const bodyOfSource = (source: string | Uint8Array<ArrayBuffer>): Body => ({
  source,
  stream: undefined,
  used: false,
})

export const bodyOfStream = (stream: ReadableStream): Body => ({ source: undefined, stream, used: false })

/** The body that came across the wall: whole as text or bytes, or a stream, of which its `Content-Length` may be known. */
export const bodyFromWire = (
  body: WireBody | ReadableStream | undefined,
  contentLength: string | null,
): Body | null => {
  if (body === undefined) return null
  if (typeof body === 'string') return bodyOfSource(body)
  if (!isReadableStream(body)) return bodyOfSource(new Bytes(body as ArrayBuffer))
  return bodyOfStream(withLength(body, contentLength === null ? undefined : Number(contentLength)))
}

export const isBodyUsed = (body: Body | null): boolean =>
  body !== null && (body.used || (body.stream !== undefined && isDisturbed(body.stream)))

/** True where a body was read, or its stream is locked. */
export const isBodyUnusable = (body: Body | null): boolean =>
  isBodyUsed(body) || body?.stream?.locked === true

/** The stream behind `.body`, made on first use. That of a body which was read is locked, as its reader has it. */
export const streamOfBody = (body: Body): ReadableStream => {
  if (body.stream !== undefined) return body.stream
  const { signal, source = '' } = body
  const bytes = body.used ? new Bytes(0) : bytesOfSource(source)
  body.stream =
    signal?.aborted === true && !body.used
      ? failedStream(signal.reason)
      : withLength(streamOfBytes(bytes), bytes.length)
  if (body.used) readChunks(body.stream, ignore, ignore, ignore)
  return body.stream
}

/** A longer body crosses in pieces. In bytes, or for text in characters. */
const wholeLimit = 64 * 1024

/** On its way across the wall: whole as text or as a buffer, or where it is long, piece by piece. */
export type OutgoingBody = string | ArrayBuffer | Uint8Array<ArrayBuffer> | ReadableStream

/** In bytes, of a body that crosses in pieces, when it is known. */
export const lengthInPieces = (body: OutgoingBody | undefined): number | undefined => {
  if (typeof body !== 'object') return undefined
  if (body instanceof Bytes) return body.length
  return isReadableStream(body) ? knownLength(body) : undefined
}

/** Takes the body for its way across the wall. `what` names its owner in the TypeError for a body that was already read. */
export const takeBody = (body: Body | null, what: string): OutgoingBody | undefined => {
  if (body === null) return undefined
  take(body, what)
  const source = takeUnread(body)
  if (source === undefined) return body.stream
  if (source.length > wholeLimit) return bytesOfSource(source)
  return typeof source === 'string' ? source : exactBuffer(source)
}

/**
 * Fetch standard, "consume body": takes the whole body and makes something of its bytes. No promise on the way
 * is resolved with an object: a script would see it by a `then` on Object.prototype.
 */
export const consumeBody = <T>(
  body: Body | null,
  what: string,
  convert: (bytes: Uint8Array<ArrayBuffer>) => T,
): Promise<T> => {
  if (body !== null && body.stream !== undefined) return consumeStream(body, body.stream, what, convert)
  return new NativePromise((resolve) => {
    if (body === null) return resolve(convert(new Bytes(0)))
    take(body, what)
    resolve(convert(takeSource(body)))
  })
}

/** A failed conversion throws after the `await`: there V8 knows the waiting line of the author. */
const consumeStream = async <T>(
  body: Body,
  stream: ReadableStream,
  what: string,
  convert: (bytes: Uint8Array<ArrayBuffer>) => T,
): Promise<T> => {
  take(body, what)
  let whole = new Bytes(0)
  await new NativePromise<void>((resolve, reject) => {
    const finish = (bytes: Uint8Array<ArrayBuffer>) => {
      whole = bytes
      resolve()
    }
    readAll(stream, finish, reject)
  })
  return convert(whole)
}

/** Takes the whole body as text. A text that was never bytes is not encoded and decoded for it. */
export const consumeText = <T>(body: Body | null, what: string, convert: (text: string) => T): Promise<T> => {
  const source = body?.stream === undefined ? body?.source : undefined
  if (body === null || typeof source !== 'string') {
    return consumeBody(body, what, (bytes) => convert(decodeUtf8(bytes)))
  }
  return new NativePromise((resolve) => {
    take(body, what)
    body.source = undefined
    const text = source.isWellFormed() ? source : source.toWellFormed()
    resolve(convert(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text))
  })
}

/** The body of a request that is made from another, whose own counts as read from then on. */
export const takeOverBody = (body: Body): Body => {
  if (isBodyUnusable(body)) throw new TypeError('The body of the given request was read, or is locked')
  const source = takeUnread(body)
  body.used = true
  const { stream } = body
  if (source !== undefined || stream === undefined) return bodyOfSource(source ?? '')
  return bodyOfStream(withLength(stream.pipeThrough(new TransformStream()), knownLength(stream)))
}

/** A second body with the same content. Throws a TypeError where the first can no longer be read. */
export const cloneBody = (body: Body | null, what: string): Body | null => {
  if (body === null) return null
  if (isBodyUnusable(body)) throw new TypeError(`A ${what} cannot be cloned after its body was read`)
  if (body.stream === undefined) {
    // A copy: the reader of the first body gets its bytes, and may write into them.
    const source = body.source ?? ''
    const copy = bodyOfSource(typeof source === 'string' ? source : source.slice())
    return body.signal === undefined ? copy : { ...copy, signal: body.signal }
  }
  const length = knownLength(body.stream)
  const [first, second] = body.stream.tee()
  const isCopied = isByteStream(body.stream)
  body.stream = withLength(first, length)
  body.source = undefined
  return bodyOfStream(withLength(isCopied ? second : second.pipeThrough(createChunkCloner()), length))
}

/** Tells the source of a body that it will not be read. */
export const cancelBody = (body: Body | null, reason: unknown): void => {
  if (body?.stream !== undefined && !body.stream.locked) body.stream.cancel(reason).catch(ignore)
}

const take = (body: Body, what: string): void => {
  if (body.signal?.aborted === true) throw body.signal.reason
  if (isBodyUnusable(body)) throw new TypeError(`The body of the ${what} has already been read, or is locked`)
  body.used = true
}

/** The source of a body, also of one whose stream was only looked at: that is locked then, as one that is read. */
const takeUnread = (body: Body): Body['source'] => {
  const { stream, source } = body
  body.source = undefined
  if (stream === undefined) return source ?? ''
  if (source !== undefined) stream.getReader()
  return source
}

/** The bytes of a body without a stream, which it gives away. */
const takeSource = (body: Body): Uint8Array<ArrayBuffer> => {
  const bytes = bytesOfSource(body.source ?? '')
  body.source = undefined
  return bytes
}

const ignore = (): undefined => undefined

/** Streams standard, "tee" with `cloneForBranch2`: the two branches share no chunk. */
const createChunkCloner = () =>
  new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform: (chunk, controller) => controller.enqueue(structuredClone(chunk) as Uint8Array<ArrayBuffer>),
  })

const bytesOfSource = (source: string | Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> =>
  typeof source === 'string' ? encodeUtf8(source) : source

const exactBuffer = (bytes: Uint8Array<ArrayBuffer>): ArrayBuffer =>
  bytes.byteLength === bytes.buffer.byteLength
    ? bytes.buffer
    : copyBuffer(bytes.buffer, bytes.byteOffset, bytes.byteOffset + bytes.byteLength)

const streamOfBytes = (bytes: Uint8Array<ArrayBuffer>): ReadableStream =>
  new Stream({
    type: 'bytes',
    pull(controller) {
      if (bytes.byteLength > 0) controller.enqueue(bytes)
      controller.close()
      controller.byobRequest?.respond(0)
    },
  }) as ReadableStream

const failedStream = (reason: unknown): ReadableStream =>
  new Stream({ start: (controller) => controller.error(reason) })

/** Fetch standard, "read all bytes". */
const readAll = (
  stream: ReadableStream,
  done: (bytes: Uint8Array<ArrayBuffer>) => void,
  fail: (reason: unknown) => void,
): void => {
  const chunks: Uint8Array[] = []
  let length = 0
  const keep = (chunk: unknown): void => {
    if (!(chunk instanceof Uint8Array))
      throw new TypeError('A body stream gave a chunk that is no Uint8Array')
    chunks.push(chunk)
    length += chunk.byteLength
  }
  const join = (): void => {
    const bytes = new Bytes(length)
    let offset = 0
    for (const chunk of chunks) {
      bytes.set(chunk, offset)
      offset += chunk.byteLength
    }
    done(bytes)
  }
  readChunks(stream, keep, join, fail)
}
