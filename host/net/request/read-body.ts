import { promisify } from 'node:util'
import { brotliDecompress, constants, gunzip, inflate, inflateRaw } from 'node:zlib'
import { AnnexError } from '../../errors/annex-error.ts'

/**
 * Reads a body whole. Leaving the loop early destroys the stream, and with it the connection.
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
 * Decompresses a body as its content-encoding says. `undefined` when there is nothing to do: no encoding, an
 * unknown one, or several on top of each other, which nobody but an attacker sends; the body then stays as it is.
 *
 * @throws AnnexError `egress_too_large` when the result is over `maxBytes` (a decompression bomb)
 */
export async function decodeBody(
  body: Uint8Array,
  encoding: string | undefined,
  maxBytes: number,
): Promise<Uint8Array | undefined> {
  const name = encoding?.trim().toLowerCase()
  if (name === undefined || body.length === 0) return undefined
  const decode = decoderFor(name, body)
  if (decode === undefined) return undefined
  try {
    // A copy, for the same reason as above.
    return Uint8Array.from(await decode(body, maxBytes))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE') {
      throw tooLarge(maxBytes)
    }
    throw error
  }
}

type Decode = (body: Uint8Array, maxOutputLength: number) => Promise<Uint8Array>

function decoderFor(name: string, body: Uint8Array): Decode | undefined {
  if (name === 'gzip' || name === 'x-gzip') return withZlib(promisify(gunzip))
  // "deflate" is the zlib format, but servers send the raw one as well; zlib's first byte says method 8.
  if (name === 'deflate') return withZlib(promisify(((body[0] ?? 0) & 0x0f) === 8 ? inflate : inflateRaw))
  if (name === 'br')
    return (bytes, maxOutputLength) => promisify(brotliDecompress)(bytes, { maxOutputLength })
  return undefined
}

/** As browsers do, takes what there is of a stream that was cut off at its end. */
const withZlib =
  (unzip: (body: Uint8Array, options: object) => Promise<Uint8Array>): Decode =>
  (body, maxOutputLength) =>
    unzip(body, { maxOutputLength, finishFlush: constants.Z_SYNC_FLUSH })

const tooLarge = (maxBytes: number): AnnexError =>
  new AnnexError('egress_too_large', `The answer has more than the ${maxBytes} bytes that are allowed here.`)
