import { TextDecoder } from '../encoding/text-encoding.ts'
import { encodeUtf8 } from '../encoding/utf8.ts'
import { TransformStream } from './streams.ts'

/** Encoding standard, 7.3. A surrogate pair that is split between two chunks is put together again. */
export class TextEncoderStream {
  readonly #transform: globalThis.TransformStream<unknown, Uint8Array<ArrayBuffer>>

  constructor() {
    let high = ''
    this.#transform = new TransformStream<unknown, Uint8Array<ArrayBuffer>>({
      transform(chunk, controller) {
        let text = `${high}${chunk}`
        const last = text.charCodeAt(text.length - 1)
        high = last >= 0xd800 && last <= 0xdbff ? text.slice(-1) : ''
        if (high !== '') text = text.slice(0, -1)
        if (text !== '') controller.enqueue(encodeUtf8(text))
      },
      flush(controller) {
        if (high !== '') controller.enqueue(encodeUtf8(high))
      },
    })
  }

  get encoding(): string {
    void this.#transform
    return 'utf-8'
  }
  get readable(): globalThis.ReadableStream<Uint8Array<ArrayBuffer>> {
    return this.#transform.readable
  }
  get writable(): globalThis.WritableStream<unknown> {
    return this.#transform.writable
  }
}

/** Encoding standard, 7.4. */
export class TextDecoderStream {
  readonly #decoder: globalThis.TextDecoder
  readonly #transform: globalThis.TransformStream<BufferSource, string>

  constructor(label = 'utf-8', options: { fatal?: boolean; ignoreBOM?: boolean } = {}) {
    const decoder = new TextDecoder(label, options)
    this.#decoder = decoder
    this.#transform = new TransformStream<BufferSource, string>({
      transform(chunk, controller) {
        // The decoder takes it for the end of the text.
        if (chunk === undefined) throw new TypeError('A chunk to decode is a buffer, or a view of one')
        const text = decoder.decode(chunk as Uint8Array<ArrayBuffer>, { stream: true })
        if (text !== '') controller.enqueue(text)
      },
      flush(controller) {
        const text = decoder.decode()
        if (text !== '') controller.enqueue(text)
      },
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
  get readable(): globalThis.ReadableStream<string> {
    return this.#transform.readable
  }
  get writable(): globalThis.WritableStream<BufferSource> {
    return this.#transform.writable
  }
}
