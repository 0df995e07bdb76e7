import * as bytes from '@exodus/bytes/encoding.js'

/** Encoding standard, 7.1. The decoders are those of @exodus/bytes; the tables of the legacy ones come on first use. */
export class TextDecoder {
  readonly #decoder: InstanceType<typeof bytes.TextDecoder>

  constructor(label: string = 'utf-8', options: { fatal?: boolean; ignoreBOM?: boolean } | null = {}) {
    const { fatal = false, ignoreBOM = false } = dictionary(options)
    this.#decoder = new bytes.TextDecoder(`${label}`, {
      fatal: Boolean(fatal),
      ignoreBOM: Boolean(ignoreBOM),
    })
  }

  get encoding(): string {
    return this.#decoder.encoding
  }

  get fatal(): boolean {
    return this.#decoder.fatal
  }

  get ignoreBOM(): boolean {
    return this.#decoder.ignoreBOM
  }

  decode(input: BufferSource | undefined = undefined, options: { stream?: boolean } | null = {}): string {
    const { stream = false } = dictionary(options)
    return this.#decoder.decode(input, { stream: Boolean(stream) })
  }
}

/** Encoding standard, 7.2. */
export class TextEncoder {
  readonly #encoder = new bytes.TextEncoder()

  get encoding(): string {
    return this.#encoder.encoding
  }

  encode(input = ''): Uint8Array<ArrayBuffer> {
    return this.#encoder.encode(`${input}`) as Uint8Array<ArrayBuffer>
  }

  encodeInto(source: string, destination: Uint8Array): { read: number; written: number } {
    return this.#encoder.encodeInto(`${source}`, destination) as { read: number; written: number }
  }
}

/** Web IDL, 3.2.17: nothing stands for a dictionary without members. */
const dictionary = <T extends object>(value: T | null | undefined): Partial<T> => {
  if (value === undefined || value === null) return {}
  if (typeof value === 'object' || typeof value === 'function') return value
  throw new TypeError('The options are an object')
}
