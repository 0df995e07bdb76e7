import type { Socket } from 'node:net'

/** Who waits for an answer over a connection. */
export type Waiting = {
  /** Whether a request has been sent: undici ends a connection that talks before. */
  isSent: () => boolean
  /** The status that decides, before the rest of its head. */
  onStatus: (status: number) => void
}

export type AnswerStarts = {
  /** The next answer is that of another request. */
  expect: () => void
}

/** `HTTP/1.1 200` */
const startBytes = 12
const headEnd = '\r\n\r\n'
const nothing: Buffer = Buffer.alloc(0)

/**
 * Takes heads of interim answers (1xx) out of what undici reads. It ends a connection on which `100 Continue` comes, and will
 * not change that, though a server may send any number of them unasked (RFC 9110, 15.2). `101` is left to it.
 */
export function skipInterimAnswers(socket: Socket, { isSent, onStatus }: Waiting): AnswerStarts {
  let place: 'start' | 'interim' | 'answer' = 'start'
  /** The beginning of a start, or the end of an interim head so far. */
  let held = nothing
  const read = socket.read.bind(socket)
  socket.read = (size?: number) => {
    // Node's own readers ask for nothing to fill the buffer.
    if (size === 0) return read(0)
    for (let piece = read(size); piece !== null; piece = read(size)) {
      const rest =
        place === 'answer' || !isSent()
          ? piece
          : skip(held.length === 0 ? piece : Buffer.concat([held, piece]))
      if (rest.length > 0) return rest
    }
    return null
  }
  return {
    expect() {
      place = 'start'
      held = nothing
    },
  }

  function skip(bytes: Buffer): Buffer {
    let rest = bytes
    for (;;) {
      if (place === 'interim') {
        const end = rest.indexOf(headEnd)
        if (end === -1) return hold(rest.subarray(1 - headEnd.length))
        rest = rest.subarray(end + headEnd.length)
        place = 'start'
      }
      const start = rest.toString('latin1', 0, startBytes)
      if (start.length < startBytes && 'HTTP/1.'.startsWith(start.slice(0, 7))) return hold(rest)
      const status = Number(/^HTTP\/1\.\d (\d{3})/.exec(start)?.[1])
      if (status >= 100 && status < 200 && status !== 101) {
        place = 'interim'
        continue
      }
      place = 'answer'
      held = nothing
      if (status >= 200) onStatus(status)
      return rest
    }
  }

  function hold(bytes: Buffer): Buffer {
    held = bytes
    return nothing
  }
}
