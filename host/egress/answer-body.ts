import { pipeline, Readable, type Transform } from 'node:stream'
import { constants, createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib'
import { AnnexError } from '../errors/annex-error.ts'
import { toEgressError } from './egress-error.ts'

/**
 * A body as its reader gets it: decompressed as its content-encoding says, at most `maxBytes` of it. It is read as
 * fast as its reader reads, and ends its connection when it is destroyed. Its errors are such as a script may see.
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
  // The generator ends at its next chunk only, which a server that is silent never sends: its connection ends at once.
  const { _destroy: destroy } = stream
  stream._destroy = (error, done) => {
    body.destroy()
    destroy.call(stream, error, done)
  }
  // Of one that was never read, nobody hears that it was given up.
  body.on('error', () => {})
  // Its reader hears of an error when it reads; nobody may be reading any more.
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

type Decoder = (firstByte: number) => Transform

/** As browsers do, takes what there is of a stream that was cut off at its end. */
const cutOff = { finishFlush: constants.Z_SYNC_FLUSH }

/** An unknown encoding, or several on top of each other, which nobody but an attacker sends, stays as it is. */
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

export const tooLarge = (maxBytes: number): AnnexError =>
  new AnnexError('egress_too_large', `The answer has more than the ${maxBytes} bytes that are allowed here.`)
