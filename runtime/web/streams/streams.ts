import * as ponyfill from 'web-streams-polyfill'

/**
 * The Streams standard, by web-streams-polyfill, under the types that TypeScript has for it. The rest of the
 * prelude imports streams from here.
 */
export const ReadableStream = ponyfill.ReadableStream as unknown as typeof globalThis.ReadableStream
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

export const isReadableStream = (value: unknown): value is ReadableStream<unknown> =>
  value instanceof ReadableStream
