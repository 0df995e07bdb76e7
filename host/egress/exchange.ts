import type { Dispatcher } from 'undici'
import { AnnexError } from '../errors/annex-error.ts'
import type { Line, Observed } from './agent.ts'
import { type ConnectTiming, toTenths } from './connection.ts'
import type { Egress } from './egress.ts'
import { isConnectionLost, toEgressError } from './egress-error.ts'
import { type HeaderPairs, toFlat, toPairs } from './headers.ts'

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

/** `answer`: the head came, or as much of it as is read, whatever became of the rest. `error`: it did not. */
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
 * undici may go on (a name that does not resolve, a line of requests).
 *
 * A kept connection may have died unseen: where it ends before a byte of the answer, the request is sent once more at
 * once, over a new one.
 *
 * It takes the answer as undici's parser gives it, without streams and signals in between: a delivery costs half.
 */
export function exchange(egress: Egress, request: ExchangeRequest): Promise<Exchanged> {
  return new Promise((resolve) => {
    const running: Exchange = new Exchange(request, resolve, () => send({ isFresh: true }))
    const send = (how: Pick<Observed, 'isFresh'>): void => {
      const options: Dispatcher.DispatchOptions & Observed = {
        ...how,
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
    }
    send({})
  })
}

/** What an answer may have beside its body, in bytes: its head, those before it, the frames of chunks, trailers. */
const besideBody = 65_536

/** After its head: the status decides, and the rest is for people to look at. */
const bodyMs = 1_000

class Exchange implements Dispatcher.DispatchHandler {
  /** As the pools see it: see `Observed`. */
  line: Line | undefined
  isOver = false
  readonly #request: ExchangeRequest
  readonly #resolve: (exchanged: Exchanged) => void
  readonly #repeat: () => void
  readonly #timer: NodeJS.Timeout
  #bodyTimer: NodeJS.Timeout | undefined
  #controller: Dispatcher.DispatchController | undefined
  #timing: Timing | undefined
  #sentAt = 0
  #hasRead = false
  #isRepeated = false
  #status: number | undefined
  #answer: Answer | undefined
  #left: number

  constructor(request: ExchangeRequest, resolve: (exchanged: Exchanged) => void, repeat: () => void) {
    this.#request = request
    this.#resolve = resolve
    this.#repeat = repeat
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

  onStatus(status: number): void {
    this.#status = status
  }

  onResponseStarted(): void {
    if (this.#timing !== undefined) this.#timing.firstByteMs ??= toTenths(performance.now() - this.#sentAt)
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    // `skipInterimAnswers` leaves 101.
    if (status < 200) return
    const headers = toPairs((controller.rawHeaders ?? []) as Buffer[])
    this.#answer = { status, headers, body: [], isCut: false }
    this.#bodyTimer = setTimeout(() => this.#cut(), bodyMs)
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#answer === undefined || this.isOver) return
    if (this.#left > 0) this.#answer.body.push(chunk.subarray(0, this.#left))
    this.#left -= chunk.length
    if (this.#left < 0) this.#cut()
  }

  onRead(bytes: number): void {
    if (bytes > 0) this.#hasRead = true
    this.onResponseStarted()
    const limit = besideBody + this.#request.maxBytes
    if (!this.isOver && bytes > limit) this.#cut(tooMuch(this.#what, limit))
  }

  onResponseEnd(): void {
    // It answered before it had read the request: what comes next would wait behind a rest that nobody reads.
    const socket = this.line?.connection?.socket
    if (socket !== undefined && socket.writableLength > 0) socket.destroy()
    this.#finish()
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    const isLost = this.#timing?.reused === true && !this.#hasRead && isConnectionLost(error)
    if (isLost && !this.#isRepeated && !this.isOver) {
      this.#isRepeated = true
      this.#timing = undefined
      // undici is in the middle of letting go of the connection.
      return queueMicrotask(this.#repeat)
    }
    if (error.name === 'HeadersOverflowError') this.#takeStatus()
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

  /** As much of the answer as is read has come. */
  #cut(error?: AnnexError): void {
    this.#takeStatus()
    if (this.#answer !== undefined) this.#answer.isCut = true
    this.#end(error)
  }

  /** Of a head that is too long there is the status alone. */
  #takeStatus(): void {
    if (this.#status === undefined) return
    this.#answer ??= { status: this.#status, headers: [], body: [], isCut: true }
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
    clearTimeout(this.#bodyTimer)
    const timing = this.#timing ?? timingSoFar(this.line)
    if (this.#answer !== undefined) this.#resolve({ timing, answer: this.#answer })
    else this.#resolve({ timing, error: toEgressError(error, this.#what) })
  }
}

/** What the connection cost: the first request over it. */
function timingOf(line: Line | undefined): Timing {
  const connection = line?.connection
  if (connection === undefined) return {}
  return connection.isUsed ? { reused: true } : { ...connection.timing }
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
