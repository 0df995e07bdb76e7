import { Readable } from 'node:stream'
import { type AnnexError, messageOf } from '../../errors.ts'

/** A body that the sandbox reads in pieces: a visitor's request, the answer of a fetch. */
export type BodySource = {
  /** Sends one piece, or the end. The sandbox asks for each, so neither side holds more than a few pieces. */
  pull: () => void
  /** Gives the body up. */
  close: () => void
}

/**
 * @param given.onClosed once, when it has ended or is given up; `wasRead` when it was read to its end
 */
export function createBodySource(given: {
  readable: Readable
  maxBytes: number
  onPiece: (bytes: Uint8Array) => void
  onEnd: () => void
  onTooMany: () => void
  onFail: (message: string) => void
  onClosed: (wasRead: boolean) => void
}): BodySource {
  // A visitor's connection is still needed for the answer: the owner of the stream ends it.
  const pieces = given.readable.iterator({ destroyOnReturn: false })
  let bytes = 0
  let isReading = false
  let isOpen = true
  return {
    pull() {
      if (!isOpen || isReading) return
      isReading = true
      read().catch((error: unknown) => fail(messageOf(error)))
    },
    close: () => close(false),
  }

  async function read(): Promise<void> {
    const { done, value } = await pieces.next()
    isReading = false
    if (!isOpen) return
    if (done) {
      given.onEnd()
      return close(true)
    }
    bytes += value.byteLength
    if (bytes <= given.maxBytes) return given.onPiece(value)
    given.onTooMany()
    fail(`The body has more than ${given.maxBytes} bytes.`)
  }

  function fail(message: string): void {
    if (!isOpen) return
    given.onFail(message)
    close(false)
  }

  function close(wasRead: boolean): void {
    if (!isOpen) return
    isOpen = false
    given.onClosed(wasRead)
  }
}

/** A body that the sandbox gives in pieces: a script's answer, or its upload. */
export type BodySink = {
  /** Asks for a piece whenever its reader has room for one. */
  readable: Readable
  /** It is the body of a request that leaves the host. */
  isEgress: boolean
  /** @returns false for a piece that the host did not ask for: the prelude sends none */
  chunk: (bytes: Uint8Array) => boolean
  end: () => void
  /** The reader gets the error. */
  fail: (error: AnnexError) => void
}

/**
 * @param given.pull asks the sandbox for the next piece
 * @param given.cancel tells the sandbox that the reader has gone
 */
export function createBodySink(given: {
  maxBytes: number
  isEgress: boolean
  tooLarge: () => AnnexError
  pull: () => void
  cancel: () => void
}): BodySink {
  let bytes = 0
  let isAsked = false
  let isOver = false
  const readable = new Readable({
    highWaterMark: 256 * 1024,
    read() {
      isAsked = true
      given.pull()
    },
    destroy(error, done) {
      if (!isOver) given.cancel()
      isOver = true
      done(error)
    },
  })
  // A reader that has gone away handles no error, and an unhandled one would end the host.
  readable.on('error', () => {})
  return {
    readable,
    isEgress: given.isEgress,
    chunk(piece) {
      if (isOver) return true
      if (!isAsked) return false
      isAsked = false
      bytes += piece.byteLength
      if (bytes > given.maxBytes) readable.destroy(given.tooLarge())
      else readable.push(piece)
      return true
    },
    end() {
      if (isOver) return
      isOver = true
      readable.push(null)
    },
    fail(error) {
      if (isOver) return
      isOver = true
      readable.destroy(error)
    },
  }
}
