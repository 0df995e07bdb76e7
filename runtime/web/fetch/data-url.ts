import { atob } from '../encoding/base64.ts'
import { parseMimeType, trimHttpWhitespace, writeMimeType } from '../file/mime-type.ts'

const base64Mark = /; *base64$/i

/** Fetch standard, "data: URL processor", of a serialized URL; `undefined` where it is malformed. */
export const readDataUrl = (href: string): { type: string; bytes: Uint8Array<ArrayBuffer> } | undefined => {
  const fragment = href.indexOf('#')
  const input = href.slice('data:'.length, fragment === -1 ? undefined : fragment)
  const comma = input.indexOf(',')
  if (comma === -1) return undefined
  // A serialized URL holds no other whitespace.
  let type = trimHttpWhitespace(input.slice(0, comma))
  let bytes = percentDecode(input.slice(comma + 1))
  if (base64Mark.test(type)) {
    type = type.replace(base64Mark, '')
    const decoded = decodeBase64(bytes)
    if (decoded === undefined) return undefined
    bytes = decoded
  }
  const mimeType = parseMimeType(type.startsWith(';') ? `text/plain${type}` : type)
  return { type: mimeType === undefined ? 'text/plain;charset=US-ASCII' : writeMimeType(mimeType), bytes }
}

/** A serialized URL is ASCII, so each character that is not encoded is a byte. */
const percentDecode = (text: string): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(text.length)
  let length = 0
  for (let at = 0; at < text.length; at++) {
    const hex = text.charCodeAt(at) === 0x25 ? text.slice(at + 1, at + 3) : ''
    const isEncoded = hex.length === 2 && /^[0-9a-f]{2}$/i.test(hex)
    bytes[length++] = isEncoded ? Number.parseInt(hex, 16) : text.charCodeAt(at)
    if (isEncoded) at += 2
  }
  return bytes.slice(0, length)
}

const decodeBase64 = (encoded: Uint8Array): Uint8Array<ArrayBuffer> | undefined => {
  let text = ''
  for (const byte of encoded) text += String.fromCharCode(byte)
  try {
    const decoded = atob(text)
    return Uint8Array.from(decoded, (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}
