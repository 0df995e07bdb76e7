import { pipeline, Readable, type Transform } from 'node:stream'
import { constants, createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib'
import { AnnexError } from '../errors.ts'
import { toEgressError } from './egress-error.ts'

/**
 * Reads a whole body. Leaving the loop early destroys the stream, and with it the connection.
 *
 * @throws AnnexError `egress_too_large` over `maxBytes`
 */
export async function readBody(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body) {
    length += chunk.length
    if (length > maxBytes) throw tooLarge(maxBytes)
    chunks.push(chunk)
  }
  // Not Buffer.concat: small Buffers share memory with others, and this one may cross to a sandbox.
  const whole = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.length
  }
  return whole
}

/**
 * The body of an answer as a stream: decompressed by its content-encoding, `maxBytes` at most, and read as fast as its
 * reader reads. Destroying it closes the connection. A script may see its errors.
 *
 * @param what the exchange in words: `GET https://example.com`
 */
export function streamBody(
  body: Readable,
  encoding: string | undefined,
  maxBytes: number,
  what: string,
): { body: Readable; isDecoded: boolean } {
  const decoder = decoders[encoding?.trim().toLowerCase() ?? '']
  const decoded = decoder === undefined ? body : decode(body, decoder)
  const stream = Readable.from(bounded(decoded, maxBytes, what), { objectMode: false, highWaterMark: 65_536 })
  // The generator ends only at its next chunk, which a silent server never sends. Destroying closes the connection at once.
  const { _destroy: destroy } = stream
  stream._destroy = (error, done) => {
    body.destroy()
    destroy.call(stream, error, done)
  }
  // Without these, an error of a body that has no reader would end the process.
  body.on('error', () => {})
  stream.on('error', () => {})
  return { body: stream, isDecoded: decoder !== undefined }
}

async function* bounded(body: AsyncIterable<Uint8Array>, maxBytes: number, what: string) {
  let length = 0
  try {
    for await (const chunk of body) {
      length += chunk.length
      if (length > maxBytes) throw tooLarge(maxBytes)
      yield chunk
    }
  } catch (error) {
    throw toEgressError(error, what)
  }
}

const tooLarge = (maxBytes: number): AnnexError =>
  new AnnexError('egress_too_large', `The answer has more than the ${maxBytes} bytes that are allowed here.`)

type Decoder = (firstByte: number) => Transform

/** As browsers do, keeps the decoded part of a stream that was cut off at its end. */
const cutOff = { finishFlush: constants.Z_SYNC_FLUSH }

/** A body with an unknown encoding, or with several, stays as it is. Only attackers nest encodings. */
const decoders: Readonly<Record<string, Decoder>> = {
  gzip: () => createGunzip(cutOff),
  'x-gzip': () => createGunzip(cutOff),
  // "deflate" is the zlib format, but servers send the raw one as well; zlib's first byte says method 8.
  deflate: (firstByte) => ((firstByte & 0x0f) === 8 ? createInflate(cutOff) : createInflateRaw(cutOff)),
  br: () => createBrotliDecompress(),
}

async function* decode(body: Readable, decoder: Decoder): AsyncGenerator<Uint8Array> {
  const chunks: AsyncIterator<Uint8Array> = body[Symbol.asyncIterator]()
  const first = await chunks.next()
  if (first.done) return
  yield* pipeline(all(first.value, chunks), decoder(first.value[0] ?? 0), () => {})
}

async function* all(first: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first
  yield* { [Symbol.asyncIterator]: () => rest }
}
