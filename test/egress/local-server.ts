import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import type { Readable } from 'node:stream'
import type { TestContext } from 'node:test'
import { createEgress, type Egress, type EgressOptions } from '../../host/egress/egress.ts'

/** The key of the egress in tests. */
export const hopsKey = Buffer.alloc(32, 7)

export type LocalServer = {
  urlOrigin: string
  port: number
  /** All connections so far. */
  connections: () => number
  /** The open connections. */
  open: () => number
}

/** A real HTTP server on 127.0.0.1, closed after the test. */
export async function serve(
  t: TestContext,
  listener: RequestListener,
  options: { keepAliveTimeout?: number } = {},
): Promise<LocalServer> {
  const server = createServer(options, listener)
  return listen(t, server, () => server.closeAllConnections())
}

/** A TCP server for answers that an HTTP server does not give. */
export async function serveRaw(t: TestContext, onSocket: (socket: Socket) => void): Promise<LocalServer> {
  const sockets = new Set<Socket>()
  const server = createTcpServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    onSocket(socket)
  })
  return listen(t, server, () => {
    for (const socket of sockets) socket.destroy()
  })
}

async function listen(t: TestContext, server: Server, endConnections: () => void): Promise<LocalServer> {
  let connections = 0
  let open = 0
  server.on('connection', (socket: Socket) => {
    connections += 1
    open += 1
    socket.on('close', () => {
      open -= 1
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    endConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { urlOrigin: `http://127.0.0.1:${port}`, port, connections: () => connections, open: () => open }
}

/** A port of 127.0.0.1 without a server. */
export async function closedPort(): Promise<number> {
  const server = createTcpServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** An egress that may reach the servers of tests on 127.0.0.1. Closed after the test. */
export function openEgress(t: TestContext, options: Partial<EgressOptions> = {}): Egress {
  const egress = createEgress({ allow: ['127.0.0.1'], hopsKey, userAgent: 'Annex/0.0-test', ...options })
  t.after(() => egress.close())
  return egress
}

/** The whole body of an answer, read from its stream if need be. */
export async function bytesOf({ body }: { body: Uint8Array | Readable }): Promise<Uint8Array> {
  return body instanceof Uint8Array ? body : new Uint8Array(Buffer.concat(await body.toArray()))
}

export const textOf = async (answer: { body: Uint8Array | Readable }): Promise<string> =>
  Buffer.from(await bytesOf(answer)).toString()
