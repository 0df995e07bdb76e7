import type { Readable } from 'node:stream'
import { messageOf } from '../../errors/annex-error.ts'

/** A body that the sandbox reads piece by piece: a visitor's request, the answer of a fetch. */
export type BodySource = {
  /** Sends one piece, or the end. The sandbox asks for it, so that nothing piles up on either side. */
  pull: () => void
  /** Nobody reads it any more. */
  close: () => void
}

/**
 * @param onClosed once, when it has ended or is given up; `wasRead` when it was read to its end
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
  // Of a visitor's request the connection is still needed for the answer: whoever gave the stream ends it.
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
