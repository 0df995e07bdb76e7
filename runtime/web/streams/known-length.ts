import { isInteger, reflectApply } from '../primordials.ts'
import type { ReadableStream } from './streams.ts'

const { get, set } = WeakMap.prototype
const lengths = new WeakMap<object, number>()

/** In bytes, of a stream that holds so many: a body that a script passes on as it is keeps its length. */
export const knownLength = (stream: object): number | undefined =>
  reflectApply(get as (key: object) => number | undefined, lengths, [stream])

/** Returns the stream. */
export const withLength = (stream: ReadableStream, length: number | undefined): ReadableStream => {
  if (length !== undefined && isInteger(length))
    reflectApply(set as (key: object, value: number) => unknown, lengths, [stream, length])
  return stream
}
