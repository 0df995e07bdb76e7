import type { Duplex } from 'node:stream'
import {
  createFrameReader,
  createFrameWriter,
  type Frame,
  type FrameToWrite,
} from '../../../runtime/process/frame.ts'
import { messageOf } from '../../errors/annex-error.ts'

/** An answer's text, or a piece of a body. */
export const pieceBytes = 10 * 1024 * 1024
const frameOverheadBytes = 4 * 1024 * 1024
/** A process that does not read gets no further answers: it would fill the host's memory with them. */
const maxUnreadBytes = 16 * 1024 * 1024

/**
 * The host's end of a socketpair: frames out, what is written in one turn of the event loop together, and frames in.
 * After `onGarbage`, the bytes of which no process of ours writes, nothing more is heard.
 */
export function talk(
  stream: Duplex,
  given: { onFrame: (frame: Frame) => void; onGarbage: (message: string) => void },
): { send: (frame: FrameToWrite) => void } {
  const out = createFrameWriter((bytes) => {
    if (!stream.destroyed) stream.write(bytes)
  })
  const read = createFrameReader(pieceBytes + frameOverheadBytes, given.onFrame)
  let flushing = false
  stream.on('data', (chunk: Buffer) => {
    try {
      read(chunk)
    } catch (error) {
      stream.destroy()
      given.onGarbage(messageOf(error))
    }
  })
  return {
    send(frame) {
      out.write(frame)
      if (flushing) return
      flushing = true
      // After all that was resolved in this callback, and before the next reading of sockets: the other end should have work.
      process.nextTick(flush)
    },
  }

  function flush(): void {
    flushing = false
    out.flush()
    // What is not heard any more causes no further answers. A process that never reads is deaf, and ends.
    if (stream.writableLength > maxUnreadBytes && !stream.isPaused()) {
      stream.pause()
      stream.once('drain', () => stream.resume())
    }
  }
}
