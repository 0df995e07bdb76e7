import { Readable } from 'node:stream'
import type { AnnexError } from '../../errors/annex-error.ts'
import { answerTooLargeError } from '../sandbox-errors.ts'

/** A body that the sandbox gives piece by piece: a script's answer, or what it uploads. */
export type BodySink = {
  /** Asks for a piece whenever its reader has room for one. */
  readable: Readable
  /** @returns false for a piece that nobody has asked for: no prelude of ours sends one */
  chunk: (bytes: Uint8Array) => boolean
  end: () => void
  /** Breaks off what the reader reads. */
  fail: (error: AnnexError) => void
}

/**
 * @param pull asks the sandbox for the next piece
 * @param cancel tells the sandbox that nobody reads on
 */
export function createBodySink(given: {
  maxBytes: number
  pull: () => void
  cancel: () => void
  onTooLarge: (error: AnnexError) => void
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
  // A reader that has gone away does not hear of it; nobody else is to blame.
  readable.on('error', () => {})
  return {
    readable,
    chunk(piece) {
      if (isOver) return true
      if (!isAsked) return false
      isAsked = false
      bytes += piece.byteLength
      if (bytes <= given.maxBytes) readable.push(piece)
      else {
        const error = answerTooLargeError({ bodyBytes: given.maxBytes })
        given.onTooLarge(error)
        readable.destroy(error)
      }
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
