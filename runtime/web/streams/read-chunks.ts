import { ReadableStreamDefaultController, type ReadableStream as Stream } from './streams.ts'

/** The standard's "read request": what becomes of one read. */
type ReadRequest = {
  _chunkSteps(chunk: unknown): void
  _closeSteps(): void
  _errorSteps(reason: unknown): void
}

/** The names that web-streams-polyfill gives to the internal slots of a stream. */
type Slots = {
  _state: 'readable' | 'closed' | 'errored'
  _storedError: unknown
  _disturbed: boolean
  _readableStreamController: Record<symbol, (request: ReadRequest) => void>
}

const pullSteps = Object.getOwnPropertySymbols(ReadableStreamDefaultController.prototype).find(
  (symbol) => symbol.description === '[[PullSteps]]',
) as symbol

/**
 * Streams standard, "ReadableStreamDefaultReaderRead", of a stream whose reader the caller holds. Without the
 * promise of `reader.read()`: that resolves with an object, which a script sees on its way by a `then` that it
 * put on Object.prototype.
 */
const readOne = (stream: Stream<unknown>, request: ReadRequest): void => {
  const slots = stream as unknown as Slots
  slots._disturbed = true
  if (slots._state === 'closed') request._closeSteps()
  else if (slots._state === 'errored') request._errorSteps(slots._storedError)
  else slots._readableStreamController[pullSteps]?.(request)
}

/**
 * Takes the stream and reads it to its end; it stays locked. `take` gets each chunk; what it throws ends the
 * reading and cancels the stream. Either `done` or `fail` is called in the end.
 */
export const readChunks = (
  stream: Stream<unknown>,
  take: (chunk: unknown) => void,
  done: () => void,
  fail: (reason: unknown) => void,
): void => {
  const reader = stream.getReader()
  // A chunk that is there already is given at once: a loop instead of a recursion as deep as the queue.
  let isReading = false
  let isWanted = true
  const request: ReadRequest = {
    _chunkSteps(chunk) {
      try {
        take(chunk)
      } catch (thrown) {
        fail(thrown)
        reader.cancel(thrown).catch(() => undefined)
        return
      }
      isWanted = true
      read()
    },
    _closeSteps: done,
    _errorSteps: fail,
  }
  const read = (): void => {
    if (isReading) return
    isReading = true
    while (isWanted) {
      isWanted = false
      readOne(stream, request)
    }
    isReading = false
  }
  read()
}
