import {
  utf8toStringLoose as decodeHere,
  utf8toString as decodeStrictlyHere,
  utf8fromStringLoose as encodeHere,
} from '@exodus/bytes/utf8.js'
import { ask } from '../ask.ts'
import { Bytes, copyBuffer, cut } from '../primordials.ts'

/**
 * UTF-8, in the way that costs least: short texts here, longer ones by the process, which is fifty times as fast. The
 * build puts these in the place of the same functions of @exodus/bytes, so that its decoders have them too.
 */
const longestHere = 256
/** Bytes and code units that the process is asked for at a time, so that each answer takes well under a millisecond. */
const pieceLength = 524_288

/** Wrong bytes become U+FFFD; a byte order mark stays. */
export const utf8toStringLoose = (bytes: Uint8Array): string => {
  const { length } = bytes
  if (length <= longestHere) return decodeHere(bytes)
  let text = ''
  for (let start = 0; start < length; ) {
    const end = start + pieceLength >= length ? length : startOfCharacter(bytes, start + pieceLength)
    const from = bytes.byteOffset
    text += ask('utf8-decode', copyBuffer(bytes.buffer as ArrayBuffer, from + start, from + end))
    start = end
  }
  return text
}

/** The same, but wrong bytes throw a TypeError. */
export const utf8toString = (bytes: Uint8Array): string => {
  if (bytes.length <= longestHere) return decodeStrictlyHere(bytes)
  const text = utf8toStringLoose(bytes)
  // It may stand for a wrong byte or for itself: only the strict decoder tells.
  return text.includes('\ufffd') ? decodeStrictlyHere(bytes) : text
}

/** A lone surrogate becomes U+FFFD. The array fills its buffer exactly. */
export const utf8fromStringLoose = (text: string): Uint8Array<ArrayBuffer> => {
  const { length } = text
  if (length <= longestHere) return encodeHere(text) as Uint8Array<ArrayBuffer>
  if (length <= pieceLength) return new Bytes(ask('utf8-encode', text))
  const pieces: Uint8Array<ArrayBuffer>[] = []
  let size = 0
  for (let rest = text; rest.length > 0; ) {
    const last = rest.charCodeAt(pieceLength - 1)
    const piece = cut(rest, last >= 0xd800 && last <= 0xdbff ? pieceLength - 1 : pieceLength)
    const bytes = new Bytes(ask('utf8-encode', piece))
    pieces[pieces.length] = bytes
    size += bytes.length
    rest = rest.slice(piece.length)
  }
  const joined = new Bytes(size)
  let offset = 0
  for (const piece of pieces) {
    joined.set(piece, offset)
    offset += piece.length
  }
  return joined
}

/** Where the character begins that the byte at `index` belongs to, as far as that can be told. */
const startOfCharacter = (bytes: Uint8Array, index: number): number => {
  for (let at = index; at > index - 4; at--) {
    if (((bytes[at] ?? 0) & 0xc0) !== 0x80) return at
  }
  return index
}
