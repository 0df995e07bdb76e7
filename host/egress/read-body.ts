import { tooLarge } from './answer-body.ts'

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
