import { AnnexError } from '../errors/annex-error.ts'

export type Deadline = {
  /** Aborts when the time is over or the caller gives up; its reason is an AnnexError. */
  readonly signal: AbortSignal
  /** Rejects with that reason. undici hears of the signal only once it has a connection. */
  readonly isOver: Promise<never>
  /** Ends it before its time. */
  breakOff(reason: AnnexError): void
  /** Stops the clock. To be called whatever happened. */
  end(): void
}

/**
 * One clock for a whole exchange: waiting for a connection, redirects, headers, body. Timeouts between parts
 * alone would let a server that trickles one byte a second hold on for ever.
 *
 * @param what the exchange in words, for the error: `GET https://example.com`
 */
export function createDeadline(timeoutMs: number, what: string, caller?: AbortSignal): Deadline {
  const controller = new AbortController()
  const { promise: isOver, reject } = Promise.withResolvers<never>()
  // Often nobody is waiting any more.
  isOver.catch(() => {})
  const abort = (reason: AnnexError): void => {
    controller.abort(reason)
    reject(reason)
  }
  const giveUp = (): void => abort(new AnnexError('egress_failed', `${what} was abandoned by its caller.`))
  const timer = setTimeout(() => {
    abort(new AnnexError('egress_timeout', `${what} was not complete after ${timeoutMs} ms.`))
  }, timeoutMs)
  if (caller?.aborted) giveUp()
  caller?.addEventListener('abort', giveUp, { once: true })
  return {
    signal: controller.signal,
    isOver,
    breakOff: abort,
    end() {
      clearTimeout(timer)
      caller?.removeEventListener('abort', giveUp)
    },
  }
}
