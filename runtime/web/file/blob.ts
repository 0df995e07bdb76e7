import { decodeUtf8, encodeUtf8 } from '../encoding/utf8.ts'
import { type ReadableStream, ReadableStream as Stream } from '../streams/streams.ts'

let bytesOf: (blob: Blob) => Uint8Array<ArrayBuffer>
let isBlobObject: (value: unknown) => value is Blob

const chunkBytes = 65_536

/** File API, 3. Its bytes are in memory, so whoever is inside the prelude reads them at once. */
export class Blob {
  #bytes: Uint8Array<ArrayBuffer>
  #type: string

  static {
    bytesOf = (blob) => blob.#bytes
    isBlobObject = (value): value is Blob => typeof value === 'object' && value !== null && #bytes in value
  }

  constructor(parts: Iterable<unknown> = [], options: { type?: string; endings?: string } = {}) {
    if (typeof parts !== 'object' || parts === null || !(Symbol.iterator in parts)) {
      throw new TypeError('A Blob is made from a list of parts')
    }
    this.#bytes = joinParts(parts)
    this.#type = normalizeType(options?.type)
  }

  get size(): number {
    return this.#bytes.byteLength
  }

  get type(): string {
    return this.#type
  }

  slice(start?: number, end?: number, type?: string): Blob {
    const part = new Blob([], { type: type ?? '' })
    part.#bytes = this.#bytes.subarray(toOffset(start, 0, this.size), toOffset(end, this.size, this.size))
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

export const isBlob = (value: unknown): value is Blob => isBlobObject(value)

/** The bytes of a Blob or File, not copied: do not write into them. */
export const blobBytes = (blob: Blob): Uint8Array<ArrayBuffer> => bytesOf(blob)

/** A copy of the bytes of an ArrayBuffer or a view; `undefined` for anything else. */
export const copyBytes = (value: unknown): Uint8Array<ArrayBuffer> | undefined => {
  if (value instanceof ArrayBuffer) return new Uint8Array(value.slice(0))
  if (!ArrayBuffer.isView(value)) return undefined
  return new Uint8Array(value.buffer, value.byteOffset, value.byteLength).slice() as Uint8Array<ArrayBuffer>
}

const joinParts = (parts: Iterable<unknown>): Uint8Array<ArrayBuffer> => {
  const pieces: Uint8Array<ArrayBuffer>[] = []
  let size = 0
  for (const part of parts) {
    const piece = isBlob(part) ? blobBytes(part) : (copyBytes(part) ?? encodeUtf8(`${part}`))
    pieces.push(piece)
    size += piece.byteLength
  }
  const joined = new Uint8Array(size)
  let offset = 0
  for (const piece of pieces) {
    joined.set(piece, offset)
    offset += piece.byteLength
  }
  return joined
}

const normalizeType = (type: unknown): string => {
  const text = type === undefined ? '' : `${type}`
  return /^[\x20-\x7e]*$/.test(text) ? text.toLowerCase() : ''
}

const toOffset = (value: number | undefined, missing: number, size: number): number => {
  if (value === undefined) return missing
  const offset = Math.trunc(Number(value)) || 0
  return offset < 0 ? Math.max(size + offset, 0) : Math.min(offset, size)
}
