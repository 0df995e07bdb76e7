import { utf8fromStringLoose, utf8toStringLoose } from './utf8-codec.ts'

/** UTF-8 of a text; a lone surrogate becomes U+FFFD. The array fills its buffer exactly. */
export const encodeUtf8 = (text: string): Uint8Array<ArrayBuffer> => utf8fromStringLoose(text)

/** The Encoding standard's "UTF-8 decode": one byte order mark is dropped, wrong bytes become U+FFFD. */
export const decodeUtf8 = (bytes: Uint8Array): string => {
  const marked = bytes.length >= 3 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
  return utf8toStringLoose(marked ? bytes.subarray(3) : bytes)
}

/** The Encoding standard's "UTF-8 decode without BOM": a byte order mark stays in the text. */
export const decodeUtf8WithoutBom = (bytes: Uint8Array): string => utf8toStringLoose(bytes)
