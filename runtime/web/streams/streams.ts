import * as ponyfill from 'web-streams-polyfill'

/**
 * The Streams standard, by web-streams-polyfill, under the types that TypeScript has for it. The rest of the
 * prelude imports streams from here.
 */
export const ReadableStream = ponyfill.ReadableStream as unknown as typeof globalThis.ReadableStream & {
  from<T>(iterable: Iterable<T> | AsyncIterable<T>): globalThis.ReadableStream<T>
}
export const WritableStream = ponyfill.WritableStream as unknown as typeof globalThis.WritableStream
export const TransformStream = ponyfill.TransformStream as unknown as typeof globalThis.TransformStream
export type ReadableStream<T = Uint8Array<ArrayBuffer>> = globalThis.ReadableStream<T>

export const {
  ByteLengthQueuingStrategy,
  CountQueuingStrategy,
  ReadableByteStreamController,
  ReadableStreamBYOBReader,
  ReadableStreamBYOBRequest,
  ReadableStreamDefaultController,
  ReadableStreamDefaultReader,
  TransformStreamDefaultController,
  WritableStreamDefaultController,
  WritableStreamDefaultWriter,
} = ponyfill

/** The standard's "is disturbed": something was read from the stream, or it was cancelled. */
export const isDisturbed = (stream: ReadableStream<unknown>): boolean =>
  (stream as unknown as { _disturbed: boolean })._disturbed

/** True where chunks are bytes in the stream's own buffers: a source of `type: 'bytes'`. */
export const isByteStream = (stream: ReadableStream<unknown>): boolean =>
  (stream as unknown as { _readableStreamController: unknown })._readableStreamController instanceof
  ReadableByteStreamController

export const isReadableStream = (value: unknown): value is ReadableStream<unknown> =>
  value instanceof ReadableStream

// The bundler renames the polyfill's classes where their names meet those above.
for (const [name, made] of Object.entries({ ReadableStream, WritableStream, TransformStream }))
  Object.defineProperty(made, 'name', { value: name, configurable: true })

// The polyfill creates its own object in the place of %AsyncIteratorPrototype% (ES2018): a method that a script adds to all
// asynchronous iterators would miss those of streams.
const streamIterator = Object.getPrototypeOf(new ReadableStream()[Symbol.asyncIterator]()) as object
Reflect.deleteProperty(streamIterator, Symbol.asyncIterator)
Object.setPrototypeOf(
  streamIterator,
  Object.getPrototypeOf(Object.getPrototypeOf(async function* () {}.prototype)),
)
