import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { AnnexError } from '../errors.ts'
import { type GuardedConnections, guardConnections } from './guard-connections.ts'

export type Listening = { port: number; close: () => Promise<void> }

/** Running requests, and their `waitUntil` promises, have this long to end when Annex stops. */
export const drainMs = 10_000
/** Time for a request to arrive, its body included: a gigabyte over a slow line takes minutes. */
const requestMs = 15 * 60_000
/** After a stop, connections that the kernel has accepted are still taken for at most this long. */
const lettingInMs = 1000

/**
 * Listens for HTTP. Port 0 takes a free port. `onAnswered` is called for each request when its answer is sent or its
 * connection is closed.
 *
 * @throws AnnexError `settings_invalid` when the address is taken, or is not of this machine
 */
export async function listen(
  handle: RequestListener,
  host: string,
  port: number,
  onAnswered: (request: IncomingMessage, status: number) => void = () => {},
  guarded: GuardedConnections = { isBehindProxy: false },
): Promise<Listening> {
  const running = createRunning()
  let stopping = false
  /** A proxy sends new requests over connections that it keeps: after a stop, each connection ends with its next answer. */
  class Answer extends ServerResponse {
    override writeHead(status: number, ...rest: unknown[]): this {
      if (stopping) this.shouldKeepAlive = false
      return super.writeHead(status, ...(rest as []))
    }
  }
  // One function for all answers: a closure for each would cost time.
  function onClose(this: ServerResponse): void {
    running.end()
    onAnswered(this.req, this.statusCode)
  }
  const server = createServer(
    { ServerResponse: Answer, keepAliveTimeout: 65_000, requestTimeout: requestMs, headersTimeout: 20_000 },
    (request, response) => {
      running.begin()
      guard.begin(request, response)
      response.on('close', onClose)
      return handle(request, response)
    },
  )
  const guard = guardConnections(server, guarded)
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => reject(explain(cause, host, port)))
    server.listen(port, host, resolve)
  })
  const close = () => {
    stopping = true
    return drain(server, running).finally(guard.close)
  }
  return { port: (server.address() as AddressInfo).port, close }
}

/** Codes of an address, or a port, on which this machine cannot listen. */
const notHere: ReadonlySet<string> = new Set([
  'EADDRNOTAVAIL',
  'EACCES',
  'EAFNOSUPPORT',
  'EINVAL',
  'ENOTFOUND',
  'EAI_AGAIN',
])

function explain(cause: NodeJS.ErrnoException, host: string, port: number): Error {
  const { code = '' } = cause
  if (code === 'EADDRINUSE') {
    return new AnnexError('settings_invalid', `The port ${port} is taken. Stop what uses it, or set PORT.`, {
      cause,
    })
  }
  if (!notHere.has(code)) return cause
  const hint =
    code === 'EACCES'
      ? 'Set PORT to 1024 or more, or allow the user that runs Annex to use this one.'
      : 'Set HOST to an address of this machine: 127.0.0.1, or 0.0.0.0 for all that it has.'
  return new AnnexError('settings_invalid', `Annex cannot listen on ${host}:${port} (${code}). ${hint}`, {
    cause,
  })
}

/** Counts running requests. A Set of them would cost more than the requests do. */
function createRunning(): { begin: () => void; end: () => void; none: () => Promise<void> } {
  let count = 0
  let onNone: (() => void) | undefined
  return {
    begin() {
      count += 1
    },
    end() {
      count -= 1
      if (count === 0) onNone?.()
    },
    none: () =>
      new Promise((resolve) => {
        onNone = resolve
        if (count === 0) resolve()
      }),
  }
}

/** Waits for running requests, and for requests that were sent before the stop. Idle connections are closed at once. */
async function drain(server: Server, running: ReturnType<typeof createRunning>): Promise<void> {
  await letIn(server)
  const closed = new Promise((resolve) => server.close(resolve))
  const deadline = setTimeout(() => server.closeAllConnections(), drainMs)
  await running.none()
  server.closeAllConnections()
  await closed
  clearTimeout(deadline)
}

/** Node accepts one connection a turn, and reads it in the next. To close earlier would reset waiting connections. */
async function letIn(server: Server): Promise<void> {
  const end = performance.now() + lettingInMs
  let came = true
  const onConnection = () => {
    came = true
  }
  server.on('connection', onConnection)
  while (came && performance.now() < end) {
    came = false
    await nextTurn()
    await nextTurn()
  }
  server.off('connection', onConnection)
}
