import { randomFillSync } from 'node:crypto'
import { constants, deflateRawSync } from 'node:zlib'
// By its path: the package does not export the file.
import tables from '../../node_modules/@exodus/bytes/fallback/multi-byte.encodings.json' with { type: 'json' }
import type { UrlSetter } from '../bridge.ts'
import { parseUrl, setUrl } from './ask/parse-url.ts'

const mostRandomBytes = 65_536
/** More than the prelude ever sends: about three milliseconds. */
const mostDeflateBytes = 131_072
/**
 * The tables of the legacy multi-byte encodings as JSON. A guest asks for them when it decodes such a text: in the prelude they
 * would be a third of each isolate.
 */
const encodingTables = JSON.stringify(tables)
const encoder = new TextEncoder()

/**
 * Answers of the process itself, without the host: random bytes, URLs, UTF-8, tables, compression. The guest calls at any stack
 * depth: no value is created lazily or kept, and each answer takes a bounded time. The prelude catches the error of a used-up
 * stack before a script can see it (`runtime/web/bridge/wire.ts`).
 */
export function answerAsk(op: unknown, first: unknown, second?: unknown): ArrayBuffer | number | string {
  switch (op) {
    case 'random':
      return randomBytes(Number(first))
    case 'encoding-tables':
      return encodingTables
    case 'deflate':
      return deflatePiece(first, Number(second), false)
    case 'deflate-last':
      return deflatePiece(first, Number(second), true)
    case 'utf8-decode':
      return first instanceof ArrayBuffer ? Buffer.from(first).toString('utf8') : ''
    case 'utf8-encode':
      return encodeUtf8(first)
    case 'url':
      return parseUrl(first, second)
    default:
      return setUrl(op as UrlSetter, first, second)
  }
}

function encodeUtf8(text: unknown): ArrayBuffer {
  const bytes = encoder.encode(typeof text === 'string' ? text : '')
  const isWhole = bytes.byteLength === bytes.buffer.byteLength
  return isWhole ? bytes.buffer : bytes.slice().buffer
}

function randomBytes(length: number): ArrayBuffer {
  const isLength = Number.isInteger(length) && length >= 0 && length <= mostRandomBytes
  const bytes = new Uint8Array(isLength ? length : 0)
  randomFillSync(bytes)
  return bytes.buffer
}

/**
 * Compresses the bytes after the first `window` ones, which are the end of the last piece. The process keeps no state between two
 * pieces: a stream that a script abandons takes no memory here.
 */
function deflatePiece(bytes: unknown, window: number, isLast: boolean): ArrayBuffer {
  const isPiece =
    bytes instanceof ArrayBuffer && bytes.byteLength <= mostDeflateBytes && window <= bytes.byteLength
  if (!isPiece || !(window >= 0)) return new ArrayBuffer(0)
  const out = deflateRawSync(new Uint8Array(bytes, window), {
    finishFlush: isLast ? constants.Z_FINISH : constants.Z_SYNC_FLUSH,
    ...(window > 0 && { dictionary: new Uint8Array(bytes, 0, window) }),
  })
  return out.buffer.slice(out.byteOffset, out.byteOffset + out.byteLength) as ArrayBuffer
}
