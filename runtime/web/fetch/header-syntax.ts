import { trimHttpWhitespace } from '../file/mime-type.ts'

/** RFC 9110, 5.1: a field name is a token. */
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
/** Bytes only, and none that could end the line: a value with CR or LF would write headers of its own. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: NUL is one of the three that the standard forbids
const fieldValue = /^[\x01-\x09\x0b\x0c\x0e-\xff]*$/
// A name that is already lower case, as nearly all are, costs no new string.
const lowerToken = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/

/** A header's name in lower case. Throws a TypeError where it is no token. */
export const toHeaderName = (name: unknown): string => {
  const text = `${name}`
  if (lowerToken.test(text)) return text
  if (!token.test(text)) throw new TypeError(`${JSON.stringify(text)} is no name of a header`)
  return text.toLowerCase()
}

/** A header's value without outer whitespace. Throws a TypeError on NUL, CR, LF and characters over U+00FF. */
export const toHeaderValue = (value: unknown, name: string): string => {
  const given = `${value}`
  const isPadded = given.charCodeAt(0) <= 0x20 || given.charCodeAt(given.length - 1) <= 0x20
  const text = isPadded ? trimHttpWhitespace(given) : given
  if (fieldValue.test(text)) return text
  throw new TypeError(
    `The value of the header "${name}" may hold neither line breaks nor NUL nor characters over U+00FF`,
  )
}

/** Web IDL's ByteString. Throws a TypeError on characters over U+00FF. */
export const toByteString = (value: unknown): string => {
  const text = `${value}`
  if (!beyondBytes.test(text)) return text
  throw new TypeError(`${JSON.stringify(text.slice(0, 200))} holds characters over U+00FF`)
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: every byte is one, NUL too
const beyondBytes = /[^\x00-\xff]/
