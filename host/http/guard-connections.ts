import { readFileSync } from 'node:fs'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { networkOfPeer } from './visitor.ts'

/** A visitor must not hold the memory of a body, and a script, by sending nothing more. */
const bodyPauseMs = 30_000
/** Connections of one address that is not a trusted proxy. */
const mostOfAddress = 1_024
/** Above this part of the files that the process may open, other visitors, and the database, would find none. */
const partOfFiles = 1 / 4
const sweepMs = 1_000
const logMs = 60_000

export type Held = 'body_pause' | 'connections'

export type GuardedConnections = {
  isBehindProxy: boolean
  /** Called at most once a minute for each kind, with how many were not told since. */
  onHeld?: (held: Held, told: { address: string; untold: number }) => void
  pauseMs?: number
}

type Connection = {
  network: string | undefined
  running: { request: IncomingMessage; response: ServerResponse } | undefined
  bytesRead: number
  sinceMs: number
}

/**
 * Ends connections that hold the host: those with a body that pauses, and new ones of an address that has too many.
 *
 * @returns `begin`, to call for each request, and `close`
 */
export function guardConnections(
  server: Server,
  { isBehindProxy, onHeld = () => {}, pauseMs = bodyPauseMs }: GuardedConnections,
): { begin: (request: IncomingMessage, response: ServerResponse) => void; close: () => void } {
  const connections = new Map<Socket, Connection>()
  const ofNetwork = new Map<string, number>()
  const most = Math.min(mostOfAddress, Math.floor(mostOpenFiles() * partOfFiles))
  const tell = { body_pause: createRare(onHeld), connections: createRare(onHeld) }

  server.on('connection', (socket: Socket) => {
    const network = networkOfPeer(socket, isBehindProxy)
    const count = network === undefined ? 0 : (ofNetwork.get(network) ?? 0)
    if (count >= most) {
      tell.connections('connections', socket)
      socket.destroy()
      return
    }
    if (network !== undefined) ofNetwork.set(network, count + 1)
    connections.set(socket, { network, running: undefined, bytesRead: -1, sinceMs: 0 })
    socket.once('close', onClose)
  })

  function onClose(this: Socket): void {
    const network = connections.get(this)?.network
    connections.delete(this)
    if (network === undefined) return
    const left = (ofNetwork.get(network) ?? 1) - 1
    if (left > 0) ofNetwork.set(network, left)
    else ofNetwork.delete(network)
  }

  function endPaused(): void {
    const now = performance.now()
    for (const [socket, connection] of connections) {
      const { running, bytesRead } = connection
      if (running?.request.complete) connection.running = undefined
      if (running === undefined || running.request.complete) continue
      const { request, response } = running
      // A script that reads slowly makes its visitor wait.
      const isFull = request.readableLength >= request.readableHighWaterMark
      if (isFull || socket.bytesRead !== bytesRead) {
        connection.bytesRead = socket.bytesRead
        connection.sinceMs = now
      } else if (now - connection.sinceMs >= pauseMs) {
        connection.running = undefined
        tell.body_pause('body_pause', socket)
        endLate(socket, response)
      }
    }
  }

  const sweeping = setInterval(endPaused, sweepMs).unref()
  return {
    begin(request, response) {
      const connection = connections.get(request.socket)
      if (connection === undefined) return
      connection.running = { request, response }
      connection.bytesRead = -1
    },
    close: () => clearInterval(sweeping),
  }
}

/** As Node answers a request that is late as a whole. */
function endLate(socket: Socket, { headersSent }: ServerResponse): void {
  if (headersSent) socket.destroy()
  else socket.end('HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n', () => socket.destroy())
}

/** A flood must not fill the log. */
function createRare(onHeld: NonNullable<GuardedConnections['onHeld']>): (held: Held, socket: Socket) => void {
  let toldAtMs = Number.NEGATIVE_INFINITY
  let untold = 0
  return (held, { remoteAddress = '' }) => {
    if (performance.now() - toldAtMs < logMs) {
      untold += 1
      return
    }
    onHeld(held, { address: remoteAddress, untold })
    toldAtMs = performance.now()
    untold = 0
  }
}

/** Linux says it of each process. */
function mostOpenFiles(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8')
    return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY)
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
