import { decodeUtf8, encodeUtf8 } from '../encoding/utf8.ts'
import { type ReadableStream, ReadableStream as Stream } from '../streams/streams.ts'
import { iterateBy, toClampedInteger, toDictionary, toWord } from '../web-idl.ts'

let create: (bytes: Uint8Array<ArrayBuffer>, type: string) => Blob
let bytesOf: (blob: Blob) => Uint8Array<ArrayBuffer>
let isBlobObject: (value: unknown) => value is Blob

const chunkBytes = 65_536

export type BlobInit = { type?: unknown; endings?: unknown }

/** File API, 3. Its bytes are in memory: the prelude reads them synchronously. */
export class Blob {
  #bytes: Uint8Array<ArrayBuffer>
  #type: string

  static {
    create = (bytes, type) => {
      const blob = new Blob()
      blob.#bytes = bytes
      blob.#type = type
      return blob
    }
    bytesOf = (blob) => blob.#bytes
    isBlobObject = (value): value is Blob => typeof value === 'object' && value !== null && #bytes in value
  }

  constructor(parts: Iterable<unknown> | undefined = undefined, options: BlobInit | undefined = undefined) {
    const pieces = parts === undefined ? [] : toPieces(parts)
    const init = toDictionary(options, 'The second argument of Blob')
    const endings = toWord(init?.endings ?? 'transparent', lineEndings, 'The option "endings" of a Blob')
    this.#type = normalizeType(init?.type)
    this.#bytes = joinPieces(pieces, endings === 'native')
  }

  get size(): number {
    return this.#bytes.byteLength
  }

  get type(): string {
    return this.#type
  }

  slice(start: unknown = undefined, end: unknown = undefined, contentType: unknown = undefined): Blob {
    const { byteLength } = this.#bytes
    const part = new Blob([], { type: contentType })
    part.#bytes = this.#bytes.subarray(toOffset(start, 0, byteLength), toOffset(end, byteLength, byteLength))
    return part
  }

  async text(): Promise<string> {
    return decodeUtf8(this.#bytes)
  }

  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return this.#bytes.slice()
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return this.#bytes.slice().buffer
  }

  stream(): ReadableStream {
    const bytes = this.#bytes
    let offset = 0
    return new Stream({
      type: 'bytes',
      pull(controller) {
        const chunk = bytes.slice(offset, offset + chunkBytes)
        offset += chunk.byteLength
        if (chunk.byteLength > 0) return controller.enqueue(chunk)
        controller.close()
        controller.byobRequest?.respond(0)
      },
    }) as ReadableStream
  }
}

/** A Blob around bytes that no other code writes into. The type is not checked. */
export const createBlob = (bytes: Uint8Array<ArrayBuffer>, type: string): Blob => create(bytes, type)

export const isBlob = (value: unknown): value is Blob => isBlobObject(value)

/** The bytes of a Blob or File, not copied: do not write into them, and do not give them away. */
export const blobBytes = (blob: Blob): Uint8Array<ArrayBuffer> => bytesOf(blob)

/** A copy of the bytes of an ArrayBuffer or a view; `undefined` for anything else. */
export const copyBytes = (value: unknown): Uint8Array<ArrayBuffer> | undefined => {
  if (value instanceof ArrayBuffer) return value.detached ? new Uint8Array() : new Uint8Array(value.slice(0))
  if (!ArrayBuffer.isView(value)) return undefined
  return new Uint8Array(value.buffer, value.byteOffset, value.byteLength).slice() as Uint8Array<ArrayBuffer>
}

const lineEndings = ['transparent', 'native'] as const

/** Web IDL: each part becomes bytes or text before the options are looked at. */
const toPieces = (parts: Iterable<unknown>): (Uint8Array<ArrayBuffer> | string)[] => {
  const isObject = typeof parts === 'object' || typeof parts === 'function'
  const method: unknown = isObject && parts !== null ? parts[Symbol.iterator] : undefined
  if (method === undefined || method === null) throw new TypeError('A Blob is made from a list of parts')
  const pieces: (Uint8Array<ArrayBuffer> | string)[] = []
  for (const part of iterateBy(method, parts))
    pieces.push(isBlob(part) ? blobBytes(part) : (copyBytes(part) ?? `${part}`))
  return pieces
}

const joinPieces = (pieces: (Uint8Array<ArrayBuffer> | string)[], native: boolean) => {
  let size = 0
  const encoded = pieces.map((piece) => {
    const text = native && typeof piece === 'string' ? piece.replace(/\r\n?/g, '\n') : piece
    const bytes = typeof text === 'string' ? encodeUtf8(text) : text
    size += bytes.byteLength
    return bytes
  })
  const joined = new Uint8Array(size)
  let offset = 0
  for (const bytes of encoded) {
    joined.set(bytes, offset)
    offset += bytes.byteLength
  }
  return joined
}

const normalizeType = (type: unknown): string => {
  const text = type === undefined ? '' : `${type}`
  return /^[\x20-\x7e]*$/.test(text) ? text.toLowerCase() : ''
}

const toOffset = (value: unknown, missing: number, size: number): number => {
  if (value === undefined) return missing
  const offset = toClampedInteger(value)
  return offset < 0 ? Math.max(size + offset, 0) : Math.min(offset, size)
}
