import { isIP, type Socket } from 'node:net'
import type { buildConnector } from 'undici'

/** How long the parts of opening a connection took, in ms. What it did not need, or did not come to, is missing. */
export type ConnectTiming = {
  /** Resolving the name. An address has none. */
  dnsMs?: number
  /** TCP's handshake; of a name with several addresses, all that were tried. */
  connectMs?: number
  /** TLS's handshake, with the check of the certificate. */
  tlsMs?: number
}

export type Connection = {
  readonly timing: ConnectTiming
  /** What it is at, in words for an error. */
  phase: 'resolving the name' | 'connecting' | 'the TLS handshake' | 'open'
  /** Whether anything has come over it: for the next request nothing was opened. */
  isUsed: boolean
  /** A refused address has none. */
  socket: Socket | undefined
}

/**
 * Lets a connector connect, and measures the parts by the events of its socket: some listeners for a connection,
 * nothing for a request.
 */
export function connectTimed(
  connect: buildConnector.connector,
  options: buildConnector.Options,
  callback: buildConnector.Callback,
): Connection {
  // undici's connectors return their socket, which its types do not say.
  const socket = connect(options, callback) as unknown as Socket | undefined
  const connection: Connection = { timing: {}, phase: 'connecting', isUsed: false, socket }
  if (socket !== undefined) observe(socket, connection, options)
  return connection
}

function observe(
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
  // Before undici's own listener, which sends the request.
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

/** A tenth of a millisecond is as fine as anybody reads it. */
export const toTenths = (ms: number): number => Math.round(ms * 10) / 10
