import { utf8toStringLoose } from '@exodus/bytes/utf8.js'
import { encodeUtf8 } from '../encoding/utf8.ts'
import { blobBytes } from './blob.ts'
import { File } from './file.ts'
import { FormData, formEntries } from './form-data.ts'

/** HTML standard, "multipart/form-data encoding algorithm". */
export const writeMultipart = (form: FormData, boundary: string): Uint8Array<ArrayBuffer> => {
  const pieces: Uint8Array<ArrayBuffer>[] = []
  for (const [name, value] of formEntries(form)) {
    const start = `--${boundary}\r\nContent-Disposition: form-data; name="${escapeName(toCrLf(name))}"`
    if (typeof value === 'string') {
      pieces.push(encodeUtf8(`${start}\r\n\r\n${toCrLf(value)}\r\n`))
    } else {
      const type = value.type === '' ? 'application/octet-stream' : value.type
      pieces.push(
        encodeUtf8(`${start}; filename="${escapeName(value.name)}"\r\nContent-Type: ${type}\r\n\r\n`),
      )
      pieces.push(blobBytes(value), encodeUtf8('\r\n'))
    }
  }
  pieces.push(encodeUtf8(`--${boundary}--\r\n`))
  return join(pieces)
}

/**
 * Fetch standard, "multipart/form-data parser" (RFC 7578). Throws a TypeError where the bytes are no multipart
 * body of this boundary.
 */
export const parseMultipart = (bytes: Uint8Array<ArrayBuffer>, boundary: string): FormData => {
  const form = new FormData()
  const delimiter = encodeUtf8(`--${boundary}`)
  const separator = encodeUtf8(`\r\n--${boundary}`)
  let position = indexOfBytes(bytes, delimiter, 0)
  if (position === -1) throw malformed('it has no boundary')
  for (;;) {
    position += delimiter.length
    if (bytes[position] === 0x2d && bytes[position + 1] === 0x2d) return form
    position = skipLineEnd(bytes, position)
    const headersEnd = indexOfBytes(bytes, blankLine, position)
    if (headersEnd === -1) throw malformed('a part has no end of its headers')
    const headers = parsePartHeaders(utf8toStringLoose(bytes.subarray(position, headersEnd)))
    const start = headersEnd + blankLine.length
    const end = indexOfBytes(bytes, separator, start)
    if (end === -1) throw malformed('a part does not end')
    appendPart(form, headers, bytes.subarray(start, end))
    position = end + 2
  }
}

type PartHeaders = { name: string; filename: string | undefined; type: string }

/** One parameter at a time: a `name=` inside of a quoted file name is none. */
const dispositionParameter = /;\s*([^\s=;]+)\s*=\s*(?:"([^"]*)"|([^\s;]*))/g
const blankLine = new Uint8Array([13, 10, 13, 10])

const appendPart = (form: FormData, headers: PartHeaders, content: Uint8Array<ArrayBuffer>): void => {
  const { name, filename, type } = headers
  // UTF-8 without looking for a byte order mark: it is a part of the value.
  if (filename === undefined) form.append(name, utf8toStringLoose(content))
  else form.append(name, new File([content], filename, { type }))
}

const parsePartHeaders = (text: string): PartHeaders => {
  let disposition: string | undefined
  let type: string | undefined
  for (const line of text.split('\r\n')) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).trim().toLowerCase()
    if (name === 'content-disposition') disposition = line.slice(colon + 1)
    if (name === 'content-type') type = line.slice(colon + 1).trim()
  }
  if (!/^\s*form-data\s*(?:;|$)/i.test(disposition ?? '')) throw malformed('a part is no form-data')
  const parameters = new Map<string, string>()
  for (const [, key = '', quoted, bare] of (disposition ?? '').matchAll(dispositionParameter))
    parameters.set(key.toLowerCase(), quoted ?? bare ?? '')
  const name = parameters.get('name')
  if (name === undefined) throw malformed('a part has no name')
  const filename = parameters.get('filename')
  return {
    name: unescapeName(name),
    filename: filename === undefined ? undefined : unescapeName(filename),
    type: type ?? 'text/plain',
  }
}

const skipLineEnd = (bytes: Uint8Array, position: number): number => {
  let at = position
  while (bytes[at] === 0x20 || bytes[at] === 0x09) at++
  if (bytes[at] !== 13 || bytes[at + 1] !== 10) throw malformed('a boundary is not followed by a line end')
  return at + 2
}

const indexOfBytes = (bytes: Uint8Array, wanted: Uint8Array, from: number): number => {
  const first = wanted[0] ?? 0
  for (let at = bytes.indexOf(first, from); at !== -1; at = bytes.indexOf(first, at + 1)) {
    let length = 1
    while (length < wanted.length && bytes[at + length] === wanted[length]) length++
    if (length === wanted.length) return at
  }
  return -1
}

const join = (pieces: Uint8Array<ArrayBuffer>[]): Uint8Array<ArrayBuffer> => {
  const joined = new Uint8Array(pieces.reduce((size, piece) => size + piece.byteLength, 0))
  let offset = 0
  for (const piece of pieces) {
    joined.set(piece, offset)
    offset += piece.byteLength
  }
  return joined
}

const toCrLf = (text: string): string => text.replace(/\r\n|\r|\n/g, '\r\n')
/** A quote or a line end in a name would write a header of its own. */
const escapeName = (name: string): string =>
  name.replace(/\n/g, '%0A').replace(/\r/g, '%0D').replace(/"/g, '%22')
const unescapeName = (name: string): string =>
  name.replace(/%0A|%0D|%22/gi, (code) => decodeURIComponent(code))
const malformed = (why: string) => new TypeError(`The body is no multipart/form-data: ${why}`)
