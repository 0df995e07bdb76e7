import { copyBytes } from '../file/blob.ts'
import { type ReadableStream, ReadableStream as Stream, WritableStream } from '../streams/streams.ts'

type Bytes = Uint8Array<ArrayBuffer>

/** Some bytes in, what they become out; `end` throws where more should have come. */
export type Codec = {
  push: (bytes: Bytes) => Bytes[]
  end: () => Bytes[]
  /** Bytes that are given to it at a time. */
  sliceBytes: number
}

/**
 * The two ends of a codec. Not a TransformStream: that one emits the whole output of a chunk at once. This one continues
 * with a chunk when its reader has read the output so far: a small chunk that inflates to a gigabyte fills no memory.
 */
export const codecStreams = (
  codec: Codec,
): { readable: ReadableStream; writable: globalThis.WritableStream<BufferSource> } => {
  let out: ReadableStreamDefaultController<Bytes> | undefined
  let into: WritableStreamDefaultController | undefined
  let isOver = false
  let isWanted = false
  let wake: (() => void) | undefined

  const want = (): void => {
    isWanted = true
    wake?.()
  }

  const give = async (pieces: Bytes[]): Promise<void> => {
    for (const piece of pieces) {
      if (!isWanted && !isOver) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      if (isOver) return
      isWanted = false
      out?.enqueue(piece)
    }
  }

  const end = (tell: () => void): void => {
    if (isOver) return
    isOver = true
    tell()
    want()
  }

  const readable = new Stream<Bytes>(
    {
      start(controller) {
        out = controller as ReadableStreamDefaultController<Bytes>
      },
      pull: want,
      cancel: (reason) => end(() => into?.error(reason)),
    },
    { highWaterMark: 0 },
  )
  const orFail = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work()
    } catch (error) {
      end(() => out?.error(error))
      throw error
    }
  }
  const writable = new WritableStream<BufferSource>({
    start(controller) {
      into = controller
    },
    write: (chunk) =>
      orFail(async () => {
        const bytes = copyBytes(chunk)
        if (bytes === undefined) throw new TypeError('A chunk is a buffer, or a view of one')
        for (let start = 0; start < bytes.length && !isOver; start += codec.sliceBytes) {
          await give(codec.push(bytes.subarray(start, start + codec.sliceBytes)))
        }
      }),
    close: () =>
      orFail(async () => {
        await give(codec.end())
        end(() => out?.close())
      }),
    abort: (reason) => end(() => out?.error(reason)),
  })
  return { readable, writable }
}
