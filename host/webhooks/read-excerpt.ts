import type { HeaderPairs } from '../egress/headers.ts'

/**
 * The beginning of an answer as text, for people to look at. Bytes that are not UTF-8 become U+FFFD, and so does NUL,
 * which PostgreSQL's text cannot hold. Nothing is decompressed.
 *
 * @param isCut whether there was more: a character that the cut would split is left out
 */
export function readExcerpt(chunks: readonly Uint8Array[], isCut: boolean): string {
  const [first] = chunks
  if (first === undefined) return ''
  const bytes = chunks.length === 1 ? first : Buffer.concat(chunks)
  // With `stream` the decoder waits for the rest of the last character.
  const text = isCut ? new TextDecoder().decode(bytes, { stream: true }) : toText(bytes)
  return text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text
}

/** Several times as fast as a TextDecoder, for the short answers that nearly all are. */
const toText = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()

/** The first headers of an answer, whole, as many as `maxBytes` hold: 10,000 of them would be kept with each attempt. */
export function readHead(headers: HeaderPairs, maxBytes: number): HeaderPairs {
  let bytes = 0
  const end = headers.findIndex(([name, value]) => {
    bytes += name.length + value.length
    return bytes > maxBytes
  })
  return end === -1 ? headers : headers.slice(0, end)
}
