import type { Readable } from 'node:stream'
import { AnnexError } from '../errors.ts'
import type { Observer } from './agent.ts'
import { startDeadline } from './deadline-timer.ts'

export type Deadline = {
  /** Aborts when the time is over or the caller gives up. Its reason is an AnnexError. */
  readonly signal: AbortSignal
  /** Rejects with that reason. undici follows the signal only once it has a connection. */
  readonly isOver: Promise<never>
  /** Ends the exchange before its deadline. */
  breakOff(reason: AnnexError): void
  /** Stops the timer of the deadline. Must be called when the exchange has ended. */
  end(): void
}

/**
 * One deadline for a whole exchange: the wait for a connection, redirects, headers, body. Timeouts between parts would let
 * a server that trickles one byte a second hold the connection for ever.
 *
 * @param what the exchange in words, for the error: `GET https://example.com`
 */
export function createDeadline(timeoutMs: number, what: string, caller?: AbortSignal): Deadline {
  const controller = new AbortController()
  const { promise: isOver, reject } = Promise.withResolvers<never>()
  // Often the exchange has ended, and with it the handler of this promise.
  isOver.catch(() => {})
  const abort = (reason: AnnexError): void => {
    controller.abort(reason)
    reject(reason)
  }
  const giveUp = (): void => abort(new AnnexError('egress_failed', `${what} was abandoned by its caller.`))
  const endTimer = startDeadline(timeoutMs, () => {
    abort(new AnnexError('egress_timeout', `${what} was not complete after ${timeoutMs} ms.`))
  })
  if (caller?.aborted) giveUp()
  caller?.addEventListener('abort', giveUp, { once: true })
  return {
    signal: controller.signal,
    isOver,
    breakOff: abort,
    end() {
      endTimer()
      caller?.removeEventListener('abort', giveUp)
    },
  }
}

/** Bytes beside a body: heads, and the bytes that wait in the connection while the body's reader is slow. */
const besideAnyBody = 262_144

/** More for each byte of the body: a chunk of one byte has five beside it. */
const besideEachByte = 8

export type OverheadLimit = {
  observer: Observer
  /** The request went over a kept connection, and no byte of an answer has come. */
  isUnheard(): boolean
  /** Subtracts the bytes of the body from those of the connection. */
  countBody(body: Readable): void
}

/**
 * Breaks off an answer that is nearly all overhead: a reason phrase without end, interim answers, extensions of chunks.
 * Reading them costs the host, and no reader of the body ever sees them.
 *
 * @param what the exchange in words: `GET https://example.com`
 */
export function limitOverhead(what: string, breakOff: (error: AnnexError) => void): OverheadLimit {
  let bodyBytes = 0
  let hasRead = false
  const onRead = (bytes: number): void => {
    if (bytes > 0) hasRead = true
    const limit = besideAnyBody + bodyBytes * besideEachByte
    if (bytes - bodyBytes <= limit) return
    const text = `${what} was broken off: more than ${limit} bytes came beside the ${bodyBytes} of its body.`
    breakOff(new AnnexError('egress_too_large', text))
  }
  const observer: Observer = { slot: undefined, isOver: false, onRead }
  return {
    observer,
    isUnheard: () => !hasRead && observer.slot?.connection?.isUsed === true,
    countBody(body) {
      // A listener for `data` would start reading before there is a reader.
      const push = body.push.bind(body)
      body.push = (chunk: Uint8Array | null, encoding) => {
        bodyBytes += chunk?.length ?? 0
        return push(chunk, encoding)
      }
    },
  }
}
