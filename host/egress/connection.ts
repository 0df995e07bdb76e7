import { isIP, type Socket } from 'node:net'
import type { buildConnector } from 'undici'

/** How long each part of opening a connection took, in ms. A part that was not needed or not finished is missing. */
export type ConnectTiming = {
  /** Resolving the name. An address has none. */
  dnsMs?: number
  /** TCP's handshake; for a name with several addresses, all that were tried. */
  connectMs?: number
  /** TLS's handshake, with the check of the certificate. */
  tlsMs?: number
}

export type Connection = {
  readonly timing: ConnectTiming
  /** In words for an error. */
  phase: 'resolving the name' | 'connecting' | 'the TLS handshake' | 'open'
  /** Bytes have come over it: the next request opens nothing. */
  isUsed: boolean
  /** A refused address has none. */
  socket: Socket | undefined
}

/** Connects, and measures each part by the events of the socket: a few listeners for a connection, none for a request. */
export function connectTimed(
  connect: buildConnector.connector,
  options: buildConnector.Options,
  callback: buildConnector.Callback,
): Connection {
  // undici's connectors return their socket, but its types do not say so.
  const socket = connect(options, callback) as unknown as Socket | undefined
  const connection: Connection = { timing: {}, phase: 'connecting', isUsed: false, socket }
  if (socket !== undefined) measure(socket, connection, options)
  return connection
}

function measure(
  socket: Socket,
  connection: Connection,
  { hostname, protocol }: buildConnector.Options,
): void {
  const { timing } = connection
  let since = performance.now()
  const lap = (): number => {
    const start = since
    since = performance.now()
    return toTenths(since - start)
  }
  if (isIP(hostname) === 0) {
    connection.phase = 'resolving the name'
    socket.once('lookup', (error: Error | null) => {
      timing.dnsMs = lap()
      if (error === null) connection.phase = 'connecting'
    })
  }
  // undici's own listener sends the request: this one comes before it.
  socket.prependOnceListener('connect', () => {
    timing.connectMs = lap()
    connection.phase = protocol === 'https:' ? 'the TLS handshake' : 'open'
  })
  if (protocol !== 'https:') return
  socket.prependOnceListener('secureConnect', () => {
    timing.tlsMs = lap()
    connection.phase = 'open'
  })
}

/** Times are shown in tenths of a millisecond. */
export const toTenths = (ms: number): number => Math.round(ms * 10) / 10

/** The request that waits for an answer over a connection. */
type Waiting = {
  /** True when the request has been sent. undici closes a connection that sends bytes before. */
  isSent: () => boolean
  /** The status of the final answer, before the rest of its head. */
  onStatus: (status: number) => void
}

export type Answers = {
  /** The next bytes belong to the answer to another request. */
  expectNext: () => void
}

/** `HTTP/1.1 200` */
const startBytes = 12
const headEnd = '\r\n\r\n'
const nothing: Buffer = Buffer.alloc(0)

/**
 * Drops interim answers (1xx) from the bytes that undici reads. undici closes a connection on which `100 Continue` comes,
 * although a server may send any number of interim answers unasked (RFC 9110, 15.2). A `101`, which no request here asks for, ends
 * the connection.
 */
export function skipInterimAnswers(socket: Socket, { isSent, onStatus }: Waiting): Answers {
  let state: 'start' | 'interim' | 'answer' = 'start'
  /** An incomplete status line, or the last bytes of an interim head so far. */
  let held = nothing
  const read = socket.read.bind(socket)
  socket.read = (size?: number) => {
    // Node's own readers ask for nothing to fill the buffer.
    if (size === 0) return read(0)
    for (let piece = read(size); piece !== null; piece = read(size)) {
      const rest =
        state === 'answer' || !isSent()
          ? piece
          : skip(held.length === 0 ? piece : Buffer.concat([held, piece]))
      if (rest.length > 0) return rest
    }
    return null
  }
  return {
    expectNext() {
      state = 'start'
      held = nothing
    },
  }

  function skip(bytes: Buffer): Buffer {
    let rest = bytes
    for (;;) {
      if (state === 'interim') {
        const end = rest.indexOf(headEnd)
        if (end === -1) return hold(rest.subarray(1 - headEnd.length))
        rest = rest.subarray(end + headEnd.length)
        state = 'start'
      }
      const start = rest.toString('latin1', 0, startBytes)
      if (start.length < startBytes && 'HTTP/1.'.startsWith(start.slice(0, 7))) return hold(rest)
      const status = Number(/^HTTP\/1\.\d (\d{3})/.exec(start)?.[1])
      if (status < 100 || status === 101) return refuse(start.slice(-3))
      if (status >= 100 && status < 200) {
        state = 'interim'
        continue
      }
      state = 'answer'
      held = nothing
      if (status >= 200) onStatus(status)
      return rest
    }
  }

  /** undici fails by an assertion for a status below 100, and for an unasked `101`. */
  function refuse(status: string): Buffer {
    state = 'answer'
    socket.destroy(Object.assign(new Error('The status is no answer.'), { code: `HTTP_${status}` }))
    return nothing
  }

  function hold(bytes: Buffer): Buffer {
    held = bytes
    return nothing
  }
}
