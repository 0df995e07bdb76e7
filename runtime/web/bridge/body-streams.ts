import type { WireBody } from '../../bridge.ts'
import { post } from '../../wire-kinds.ts'
import { encodeUtf8 } from '../encoding/utf8.ts'
import type { OutgoingBody } from '../fetch/body.ts'
import { Bytes, copyBuffer, NativePromise, NativeTypeError, toText, whenSettled } from '../primordials.ts'
import { isReadableStream, type ReadableStream, ReadableStream as Stream } from '../streams/streams.ts'
import { createStreamTable, type StreamTable } from './stream-table.ts'
import type { Wire } from './wire.ts'

/**
 * Bodies that cross in pieces. The reader asks for each piece (`pull`), so that neither side holds more than two pieces of
 * a body. This is the back-pressure from a visitor's slow connection to a script's `pull`, and back.
 */
export type BodyStreams = {
  /** True for a body that is sent in pieces: many bytes, or a stream. */
  isLong(body: OutgoingBody | undefined): body is LongBody
  /** The stream that the process feeds: a request's body, or that of a fetched answer. */
  receive(dispatch: number, stream: number): ReadableStream
  /** Errors a stream that the process feeds with what its reader is to see, and lets the process know. */
  breakOff(dispatch: number, stream: number, reason: unknown): void
  /** Hands a body of the script to the process, piece by piece. `ended` is called once, however it ends. */
  send(dispatch: number, stream: number, body: LongBody, ended?: () => void): void
  chunk(dispatch: number, stream: number, body: WireBody | undefined): void
  end(dispatch: number, stream: number): void
  fail(dispatch: number, stream: number, message: string): void
  pull(dispatch: number, stream: number): void
  cancel(dispatch: number, stream: number): void
  /** The dispatch is done: its unread bodies are dropped. */
  forget(dispatch: number): void
}

type Incoming = {
  controller: ReadableByteStreamController
  /** Ends the wait of `pull`. */
  came: (() => void) | undefined
}

export type LongBody = Uint8Array<ArrayBuffer> | ReadableStream

type Outgoing = {
  /** None where all bytes are there. */
  reader: ReadableStreamDefaultReader<unknown> | undefined
  /** Of what was too long for one piece. */
  rest: Uint8Array<ArrayBuffer> | undefined
  isReading: boolean
  ended: () => void
}

const pieceBytes = 256 * 1024

export const createBodyStreams = (wire: Wire): BodyStreams => {
  const incoming = createStreamTable<Incoming>()
  const outgoing = createStreamTable<Outgoing>()

  const take = <T>(from: StreamTable<T>, dispatch: number, stream: number): T | undefined => {
    wire.dispatch = dispatch
    return from.take(dispatch, stream)
  }

  const finish = (dispatch: number, stream: number): void => outgoing.take(dispatch, stream)?.ended()

  const fail = (dispatch: number, stream: number, reason: unknown): void => {
    wire.post(post.fail, dispatch, stream, describe(reason))
    finish(dispatch, stream)
  }

  const sendPiece = (
    dispatch: number,
    stream: number,
    open: Outgoing,
    bytes: Uint8Array<ArrayBuffer>,
  ): void => {
    // Bytes that the script has transferred or shrunk since it gave them are gone, and with them the body.
    try {
      const piece = bytes.length > pieceBytes ? bytes.subarray(0, pieceBytes) : bytes
      open.rest = piece === bytes ? undefined : bytes.subarray(pieceBytes)
      const start = piece.byteOffset
      const copy = copyBuffer(piece.buffer, start, start + piece.byteLength)
      wire.post(post.chunk, dispatch, stream, undefined, copy)
    } catch (thrown) {
      fail(dispatch, stream, thrown)
    }
  }

  const end = (dispatch: number, stream: number): void => {
    wire.post(post.end, dispatch, stream)
    finish(dispatch, stream)
  }

  const read = (dispatch: number, stream: number, open: Outgoing): void => {
    const { reader } = open
    if (reader === undefined) return end(dispatch, stream)
    open.isReading = true
    whenSettled(
      asPromise(() => reader.read()),
      (result) => {
        open.isReading = false
        const { done, value } = result as { done: boolean; value: unknown }
        if (done) end(dispatch, stream)
        else if (!(value instanceof Bytes)) {
          // Fetch standard: a chunk that is no Uint8Array fails the whole body.
          const reason = new NativeTypeError('A body stream gave a chunk that is no Uint8Array')
          fail(dispatch, stream, reason)
          whenSettled(
            asPromise(() => open.reader?.cancel(reason)),
            ignore,
            ignore,
          )
        } else if (value.length === 0) read(dispatch, stream, open)
        else sendPiece(dispatch, stream, open, value as Uint8Array<ArrayBuffer>)
      },
      (reason) => {
        open.isReading = false
        fail(dispatch, stream, reason)
      },
    )
  }

  return {
    isLong: (body): body is LongBody =>
      typeof body === 'object' && (body instanceof Bytes || isReadableStream(body)),
    receive(dispatch, stream) {
      return new Stream(
        {
          type: 'bytes',
          start(controller) {
            incoming.put(dispatch, stream, { controller, came: undefined })
          },
          pull() {
            const open = incoming.get(dispatch, stream)
            if (open === undefined) return
            wire.post(post.pull, dispatch, stream)
            return new NativePromise<void>((resolve) => {
              open.came = resolve
            })
          },
          cancel() {
            incoming.take(dispatch, stream)
            wire.post(post.cancel, dispatch, stream)
          },
        },
        // The first piece is asked for by the first read.
        { highWaterMark: 0 },
      ) as ReadableStream
    },
    breakOff(dispatch, stream, reason) {
      const open = incoming.take(dispatch, stream)
      if (open === undefined) return
      open.controller.error(reason)
      open.came?.()
      wire.post(post.cancel, dispatch, stream)
    },
    send(dispatch, stream, body, ended = ignore) {
      const isStream = isReadableStream(body)
      const reader = isStream ? body.getReader() : undefined
      const rest = isStream ? undefined : (body as Uint8Array<ArrayBuffer>)
      outgoing.put(dispatch, stream, { reader, rest, isReading: false, ended })
    },
    chunk(dispatch, stream, body) {
      wire.dispatch = dispatch
      const open = incoming.get(dispatch, stream)
      if (open === undefined || body === undefined) return
      const bytes = typeof body === 'string' ? encodeUtf8(body) : new Bytes(body)
      open.controller.enqueue(bytes)
      open.came?.()
    },
    end(dispatch, stream) {
      const open = take(incoming, dispatch, stream)
      if (open === undefined) return
      open.controller.close()
      // Streams standard: a reader that brought its own buffer waits for it to be given back.
      open.controller.byobRequest?.respond(0)
      open.came?.()
    },
    fail(dispatch, stream, message) {
      const open = take(incoming, dispatch, stream)
      open?.controller.error(new NativeTypeError(message))
      open?.came?.()
    },
    pull(dispatch, stream) {
      wire.dispatch = dispatch
      const open = outgoing.get(dispatch, stream)
      if (open === undefined || open.isReading) return
      if (open.rest !== undefined) sendPiece(dispatch, stream, open, open.rest)
      else read(dispatch, stream, open)
    },
    cancel(dispatch, stream) {
      const open = take(outgoing, dispatch, stream)
      if (open === undefined) return
      const reason = new NativeTypeError('The body is no longer read')
      whenSettled(
        asPromise(() => open.reader?.cancel(reason)),
        ignore,
        ignore,
      )
      open.ended()
    },
    forget(dispatch) {
      incoming.forget(dispatch)
      outgoing.forget(dispatch)
    },
  }
}

const ignore = (): void => {}

/** A native promise for what a script's stream does: it may throw, and give a thenable of its own. */
const asPromise = (act: () => unknown): Promise<unknown> => new NativePromise((resolve) => resolve(act()))

const describe = (reason: unknown): string => {
  try {
    return reason instanceof Error ? toText(reason.message) : toText(reason)
  } catch {
    return 'The stream failed'
  }
}
