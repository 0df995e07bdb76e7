import type { Dispatcher } from 'undici'
import { AnnexError } from '../../errors/annex-error.ts'
import type { Line, Observed } from '../connections/create-pools.ts'
import { type ConnectTiming, toTenths } from '../connections/timed-connect.ts'
import type { Egress } from '../egress.ts'
import { toEgressError } from '../egress-error.ts'
import { type HeaderPairs, toFlat, toPairs } from './egress-headers.ts'

export type ExchangeRequest = {
  /** As `parseTarget` has checked it. */
  url: URL
  method: 'POST'
  headers: HeaderPairs
  body: Buffer
  /** On whose behalf: see `Resolve`. */
  asker?: string | undefined
  /** For the whole exchange: waiting for a connection, connecting, the head, as much of the body as is kept. */
  timeoutMs: number
  /** How much of the answer's body is kept. With a longer one the connection ends. */
  maxBytes: number
}

/** Where the time went, in ms. A part that there was not, or that did not come to its end, is missing. */
export type Timing = ConnectTiming & {
  /** From sending the request to the first byte of an answer. */
  firstByteMs?: number
  /** The connection was there already: nothing was resolved or opened. */
  reused?: true
}

/** `answer`: the head came, whatever became of the body. `error`: it did not. */
export type Exchanged = { timing: Timing } & (
  | { answer: Answer; error?: undefined }
  | { answer?: undefined; error: AnnexError }
)

export type Answer = {
  status: number
  headers: HeaderPairs
  /** The first `maxBytes` of the body, or what came of it in time; not decoded. */
  body: Uint8Array[]
  /** Whether there was more. */
  isCut: boolean
}

/**
 * Sends one request and keeps the beginning of its answer. Follows no redirect, never rejects, and ends in its time:
 * what undici still does about it then (a name that does not resolve, a line of requests) nobody waits for.
 *
 * It takes the answer as undici's parser gives it, without streams and signals in between: a delivery costs half.
 */
export function exchange(egress: Egress, request: ExchangeRequest): Promise<Exchanged> {
  return new Promise((resolve) => {
    const running = new Exchange(request, resolve)
    const options: Dispatcher.DispatchOptions & Observed = {
      origin: request.url.origin,
      path: request.url.pathname + request.url.search,
      method: request.method,
      headers: toFlat(request.headers),
      body: request.body,
      // One clock for all, its own: undici's, from part to part, would let a trickle go on for ever.
      headersTimeout: 0,
      bodyTimeout: 0,
      asker: request.asker,
      observer: running,
    }
    egress.dispatcher.dispatch(options, running)
  })
}

/** More heads before the answer than any receiver has a reason for. */
const maxInterim = 16

/** What an answer may have beside its body, in bytes: its head, those before it, the frames of chunks, trailers. */
const besideBody = 65_536

class Exchange implements Dispatcher.DispatchHandler {
  /** As the pools see it: see `Observed`. */
  line: Line | undefined
  isOver = false
  readonly #request: ExchangeRequest
  readonly #resolve: (exchanged: Exchanged) => void
  readonly #timer: NodeJS.Timeout
  #controller: Dispatcher.DispatchController | undefined
  #timing: Timing | undefined
  #sentAt = 0
  #interim = 0
  #answer: Answer | undefined
  #left: number

  constructor(request: ExchangeRequest, resolve: (exchanged: Exchanged) => void) {
    this.#request = request
    this.#resolve = resolve
    this.#left = request.maxBytes
    this.#timer = setTimeout(() => this.#expire(), request.timeoutMs)
  }

  /** The request is about to be written to a connection. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.isOver) return controller.abort(new Error('nobody waits for it any more'))
    this.#controller = controller
    this.#timing = timingOf(this.line)
    this.#sentAt = performance.now()
  }

  onResponseStarted(): void {
    if (this.#timing !== undefined) this.#timing.firstByteMs ??= toTenths(performance.now() - this.#sentAt)
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    if (status >= 200) {
      const headers = toPairs((controller.rawHeaders ?? []) as Buffer[])
      this.#answer = { status, headers, body: [], isCut: false }
      return
    }
    this.#interim += 1
    if (this.#interim > maxInterim) this.#end(tooManyHeads(this.#what))
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#answer === undefined || this.isOver) return
    if (this.#left > 0) this.#answer.body.push(chunk.subarray(0, this.#left))
    this.#left -= chunk.length
    if (this.#left >= 0) return
    this.#answer.isCut = true
    this.#end()
  }

  onRead(bytes: number): void {
    const limit = besideBody + this.#request.maxBytes
    if (this.isOver || bytes <= limit) return
    if (this.#answer !== undefined) this.#answer.isCut = true
    this.#end(tooMuch(this.#what, limit))
  }

  onResponseEnd(): void {
    // It answered before it had read the request: what comes next would wait behind a rest that nobody reads.
    const socket = this.line?.connection?.socket
    if (socket !== undefined && socket.writableLength > 0) socket.destroy()
    this.#finish()
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    this.#finish(error)
  }

  #expire(): void {
    const { timeoutMs } = this.#request
    const text = `${this.#what} was not complete after ${timeoutMs} ms (${this.#phase()}).`
    this.#end(new AnnexError('egress_timeout', text))
  }

  get #what(): string {
    return `${this.#request.method} ${this.#request.url.origin}`
  }

  #phase(): string {
    if (this.#answer !== undefined) return 'reading the answer'
    if (this.#timing !== undefined) return 'waiting for the answer'
    const phase = this.line?.connection?.phase
    return phase === undefined || phase === 'open' ? 'waiting for a connection' : phase
  }

  /** Ends it from this side, and its connection with it. */
  #end(error?: Error): void {
    this.#finish(error)
    this.#controller?.abort(error ?? new Error('as much as is kept has been read'))
  }

  #finish(error?: Error): void {
    if (this.isOver) return
    this.isOver = true
    clearTimeout(this.#timer)
    const timing = this.#timing ?? timingSoFar(this.line)
    if (this.#answer !== undefined) this.#resolve({ timing, answer: this.#answer })
    else this.#resolve({ timing, error: toEgressError(error, this.#what) })
  }
}

/** What the connection cost: the first request over it. */
function timingOf(line: Line | undefined): Timing {
  const connection = line?.connection
  if (connection === undefined) return {}
  if (connection.isUsed) return { reused: true }
  connection.isUsed = true
  return { ...connection.timing }
}

/** Of a request that was not sent: as far as its connection had come. */
const timingSoFar = (line: Line | undefined): Timing =>
  line?.connection === undefined || line.connection.isUsed ? {} : { ...line.connection.timing }

const tooMuch = (what: string, limit: number): AnnexError =>
  new AnnexError(
    'egress_too_large',
    `${what}: it sent more than ${limit} bytes without an answer: what stands before one there is too long. ` +
      'Let it answer with a status line and a short head.',
  )

const tooManyHeads = (what: string): AnnexError =>
  new AnnexError(
    'egress_failed',
    `${what} failed: more than ${maxInterim} interim answers (1xx) came before one.`,
  )
