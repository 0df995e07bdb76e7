import { ask } from '../ask.ts'
import { encodeUtf8 } from '../encoding/utf8.ts'
import { blobBytes, copyBytes, isBlob } from '../file/blob.ts'
import { isFormData } from '../file/form-data.ts'
import { writeMultipart } from '../file/multipart.ts'
import {
  isDisturbed,
  isReadableStream,
  type ReadableStream,
  ReadableStream as Stream,
  TransformStream,
} from '../streams/streams.ts'
import { URLSearchParams } from '../url/url.ts'
import { type Body, bodyOfSource, bodyOfStream } from './body.ts'

/** Fetch standard, "extract a body": the body, and the content type that it brings along. */
export const extractBody = (init: unknown): { body: Body; type: string | null } => {
  if (typeof init === 'string') return { body: bodyOfSource(init), type: 'text/plain;charset=UTF-8' }
  if (isReadableStream(init)) {
    if (init.locked || isDisturbed(init))
      throw new TypeError('The stream given as a body was read, or is locked')
    return { body: bodyOfStream(init as ReadableStream), type: null }
  }
  // A copy: the bytes of a body are given away when it is read, and the Blob has to keep its own.
  if (isBlob(init)) {
    return { body: bodyOfSource(blobBytes(init).slice()), type: init.type === '' ? null : init.type }
  }
  if (init instanceof URLSearchParams) {
    return { body: bodyOfSource(`${init}`), type: 'application/x-www-form-urlencoded;charset=UTF-8' }
  }
  if (isFormData(init)) {
    const boundary = createBoundary()
    return {
      body: bodyOfSource(writeMultipart(init, boundary)),
      type: `multipart/form-data; boundary=${boundary}`,
    }
  }
  const bytes = copyBytes(init)
  if (bytes !== undefined) return { body: bodyOfSource(bytes), type: null }
  if (isAsyncIterable(init)) return { body: bodyOfStream(streamOfIterable(init)), type: null }
  return { body: bodyOfSource(`${init}`), type: 'text/plain;charset=UTF-8' }
}

const isAsyncIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value

/** The standard would send the text `[object AsyncGenerator]`. As in Node, texts are sent as UTF-8. */
const streamOfIterable = (given: AsyncIterable<unknown>): ReadableStream =>
  Stream.from(given).pipeThrough(
    new TransformStream<unknown, never>({
      transform: (chunk, controller) =>
        controller.enqueue((typeof chunk === 'string' ? encodeUtf8(chunk) : chunk) as never),
    }),
  )

/** Not to be guessed: a part may hold what a stranger wrote, and with the boundary he would add parts of his own. */
const createBoundary = (): string => {
  let digits = ''
  for (const byte of new Uint8Array(ask('random', 16) as ArrayBuffer))
    digits += byte.toString(16).padStart(2, '0')
  return `----AnnexFormBoundary${digits}`
}
