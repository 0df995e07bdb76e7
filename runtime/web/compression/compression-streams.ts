import type { ReadableStream } from '../streams/streams.ts'
import { codecStreams } from './codec-streams.ts'
import { containers, type Format } from './container.ts'
import { createDeflate } from './deflate.ts'
import { createInflate } from './inflate.ts'

type Ends = ReturnType<typeof codecStreams>

/** Compression standard, 4. */
export class CompressionStream {
  readonly #ends: Ends

  constructor(format: string) {
    this.#ends = codecStreams(createDeflate(toFormat(format)))
  }

  get readable(): ReadableStream {
    return this.#ends.readable
  }
  get writable(): globalThis.WritableStream<BufferSource> {
    return this.#ends.writable
  }
}

/** Compression standard, 5. */
export class DecompressionStream {
  readonly #ends: Ends

  constructor(format: string) {
    this.#ends = codecStreams(createInflate(toFormat(format)))
  }

  get readable(): ReadableStream {
    return this.#ends.readable
  }
  get writable(): globalThis.WritableStream<BufferSource> {
    return this.#ends.writable
  }
}

const toFormat = (format: unknown): Format => {
  const name = `${format}`
  if (Object.hasOwn(containers, name)) return name as Format
  throw new TypeError(
    `The format is "deflate", "deflate-raw" or "gzip", not ${JSON.stringify(name.slice(0, 50))}`,
  )
}
