import { randomFillSync } from 'node:crypto'
import type { UrlSetter } from '../bridge.ts'
import { deflatePiece } from './ask/deflate-piece.ts'
import { encodingTables } from './ask/encoding-tables.ts'
import { parseUrl, setUrl } from './ask/parse-url.ts'

const mostRandomBytes = 65_536
const encoder = new TextEncoder()

/**
 * What the guest gets at once, without the host: random bytes, URLs, UTF-8, tables, compression. It is called at any depth of the
 * guest's stack, so nothing here is made lazily or kept, and every answer takes a bounded time. Where the stack is
 * used up, what is thrown is caught at the guest's end before a script sees it (`runtime/web/bridge/wire.ts`).
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
