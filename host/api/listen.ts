import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { AnnexError } from '../errors/annex-error.ts'

export type Listening = { port: number; close: () => Promise<void> }

/** Requests that are under way when Annex stops have this long to come to an end, with what they gave to `waitUntil`. */
export const drainMs = 10_000
/** For a request to come in, its body included: a gigabyte over a slow line takes minutes. */
const requestMs = 15 * 60_000
/** Connections that the kernel has taken for us are let in for as long after a stop, should more and more come. */
const lettingInMs = 1000

/**
 * Listens. Port 0 takes a free one. `onAnswered` is called for each request when its answer is out, or its connection
 * gone.
 *
 * @throws AnnexError `settings_invalid` when the address is taken, or not this machine's
 */
export async function listen(
  handle: RequestListener,
  host: string,
  port: number,
  onAnswered: (request: IncomingMessage, status: number) => void = () => {},
): Promise<Listening> {
  const running = createRunning()
  let stopping = false
  /** A proxy sends new work over the connections that it keeps: after a stop, each ends with its next answer. */
  class Answer extends ServerResponse {
    override writeHead(status: number, ...rest: unknown[]): this {
      if (stopping) this.shouldKeepAlive = false
      return super.writeHead(status, ...(rest as []))
    }
  }
  // One function for all answers: each is closed once.
  function onClose(this: ServerResponse): void {
    running.end()
    onAnswered(this.req, this.statusCode)
  }
  const server = createServer(
    { ServerResponse: Answer, keepAliveTimeout: 65_000, requestTimeout: requestMs, headersTimeout: 20_000 },
    (request, response) => {
      running.begin()
      response.on('close', onClose)
      return handle(request, response)
    },
  )
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => reject(explain(cause, host, port)))
    server.listen(port, host, resolve)
  })
  const close = () => {
    stopping = true
    return drain(server, running)
  }
  return { port: (server.address() as AddressInfo).port, close }
}

/** What says that the address, or the port, is none that this machine listens on. */
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
      ? 'Set PORT to 1024 or more, or let whoever runs Annex take this one.'
      : 'Set HOST to an address of this machine: 127.0.0.1, or 0.0.0.0 for all that it has.'
  return new AnnexError('settings_invalid', `Annex cannot listen on ${host}:${port} (${code}). ${hint}`, {
    cause,
  })
}

/** Counts what is under way. Not a Set of it: one that thousands pass through each second costs more than they do. */
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

/**
 * Lets the requests that are under way come to an end, and those that were sent before the stop; connections without
 * one hold nothing up.
 */
async function drain(server: Server, running: ReturnType<typeof createRunning>): Promise<void> {
  await letIn(server)
  const closed = new Promise((resolve) => server.close(resolve))
  const deadline = setTimeout(() => server.closeAllConnections(), drainMs)
  await running.none()
  server.closeAllConnections()
  await closed
  clearTimeout(deadline)
}

/** Node takes one connection a turn, and reads it in the next. To close before that resets those that still wait. */
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
