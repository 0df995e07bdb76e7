import type { Dispatcher } from 'undici'
import { AnnexError } from '../errors.ts'
import type { ConnectionSlot, Observer, OutboundOptions } from './agent.ts'
import { type ConnectTiming, toTenths } from './connection.ts'
import { startDeadline } from './deadline-timer.ts'
import type { Egress } from './egress.ts'
import { isConnectionLost, toEgressError } from './egress-error.ts'
import { type HeaderPairs, toFlat, toPairs } from './headers.ts'

export type ExchangeRequest = {
  /** Checked by `parseOutboundUrl`. */
  url: URL
  method: 'POST'
  headers: HeaderPairs
  body: Buffer
  /** The organization that the request is for: see `Resolve`. */
  tenant?: string | undefined
  /** For the whole exchange: the wait for a connection, connecting, the head, the kept part of the body. */
  timeoutMs: number
  /** How much of the answer's body is kept. A longer body closes the connection. */
  maxBytes: number
}

/** The parts of the duration, in ms. A part that was not needed or not finished is missing. */
export type Timing = ConnectTiming & {
  /** From sending the request to the first byte of an answer. */
  firstByteMs?: number
  /** The request went over a kept connection: nothing was resolved or opened. */
  reused?: true
}

/** `answer`: the status came, and the body may be cut. `error`: no status came. */
export type Exchanged = { timing: Timing } & (
  | { answer: Answer; error?: undefined }
  | { answer?: undefined; error: AnnexError }
)

export type Answer = {
  status: number
  headers: HeaderPairs
  /** The first `maxBytes` of the body, or those that came in time; not decoded. */
  body: Uint8Array[]
  /** True when the body was longer. */
  isCut: boolean
}

/**
 * Sends one request and keeps the beginning of its answer. It follows no redirect, never rejects, and settles by its
 * deadline, even while undici still waits for a name or a connection.
 *
 * A server may close a kept connection unnoticed. When a kept connection closes before the first byte of the answer, the
 * request is sent again at once, over a new connection.
 *
 * The answer comes straight from undici's parser: streams and signals would double the cost of a delivery.
 */
export function exchange(egress: Egress, request: ExchangeRequest): Promise<Exchanged> {
  return new Promise((resolve) => {
    const running: Exchange = new Exchange(request, resolve, () => send({ isFresh: true }))
    const send = (how: Pick<OutboundOptions, 'isFresh'>): void => {
      const options: Dispatcher.DispatchOptions & OutboundOptions = {
        ...how,
        origin: request.url.origin,
        path: request.url.pathname + request.url.search,
        method: request.method,
        headers: toFlat(request.headers),
        body: request.body,
        // The exchange has one deadline. undici's time-outs between parts would let a trickle go on for ever.
        headersTimeout: 0,
        bodyTimeout: 0,
        tenant: request.tenant,
        observer: running,
      }
      egress.dispatcher.dispatch(options, running)
    }
    send({})
  })
}

/** Bytes that an answer may have beside its body: its head, interim answers, the frames of chunks, trailers. */
const besideBody = 65_536

/** Time for the body after the head: the status decides, and the body is only shown to people. */
const bodyMs = 1_000

class Exchange implements Dispatcher.DispatchHandler, Observer {
  slot: ConnectionSlot | undefined
  isOver = false
  readonly #request: ExchangeRequest
  readonly #resolve: (exchanged: Exchanged) => void
  readonly #repeat: () => void
  readonly #endTimer: () => void
  #endBodyTimer: (() => void) | undefined
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
    this.#endTimer = startDeadline(request.timeoutMs, () => this.#expire())
  }

  /** The request is about to be written to a connection. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.isOver) return controller.abort(new Error('the exchange is over'))
    this.#controller = controller
    this.#timing = timingOf(this.slot)
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
    this.#endBodyTimer = startDeadline(bodyMs, () => this.#cut())
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
    // The receiver answered before it had read the request. The next request would wait behind the unread rest.
    const socket = this.slot?.connection?.socket
    if (socket !== undefined && socket.writableLength > 0) socket.destroy()
    this.#finish()
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    const isLost = this.#timing?.reused === true && !this.#hasRead && isConnectionLost(error)
    if (isLost && !this.#isRepeated && !this.isOver) {
      this.#isRepeated = true
      this.#timing = undefined
      // undici has not removed the closed connection yet.
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
    const phase = this.slot?.connection?.phase
    return phase === undefined || phase === 'open' ? 'waiting for a connection' : phase
  }

  /** Ends with the part of the answer that has come. */
  #cut(error?: AnnexError): void {
    this.#takeStatus()
    if (this.#answer !== undefined) this.#answer.isCut = true
    this.#end(error)
  }

  /** An answer whose head is too long has a status only. */
  #takeStatus(): void {
    if (this.#status === undefined) return
    this.#answer ??= { status: this.#status, headers: [], body: [], isCut: true }
  }

  /** Ends the exchange from this side, and closes its connection. */
  #end(error?: Error): void {
    this.#finish(error)
    this.#controller?.abort(error ?? new Error('the kept part of the answer has been read'))
  }

  #finish(error?: Error): void {
    if (this.isOver) return
    this.isOver = true
    this.#endTimer()
    this.#endBodyTimer?.()
    const timing = this.#timing ?? timingSoFar(this.slot)
    if (this.#answer !== undefined) this.#resolve({ timing, answer: this.#answer })
    else this.#resolve({ timing, error: toEgressError(error, this.#what) })
  }
}

/** Only the first request over a connection has the cost of opening it. */
function timingOf(slot: ConnectionSlot | undefined): Timing {
  const connection = slot?.connection
  if (connection === undefined) return {}
  return connection.isUsed ? { reused: true } : { ...connection.timing }
}

/** For a request that was not sent: the finished parts of its connection. */
const timingSoFar = (slot: ConnectionSlot | undefined): Timing =>
  slot?.connection === undefined || slot.connection.isUsed ? {} : { ...slot.connection.timing }

const tooMuch = (what: string, limit: number): AnnexError =>
  new AnnexError(
    'egress_too_large',
    `${what}: it sent more than ${limit} bytes without an answer. ` +
      'Let it answer with a status line and a short head.',
  )
