import { AnnexError } from '../../errors/annex-error.ts'

export type Deadline = {
  /** Aborts when the time is over or the caller gives up; its reason is an AnnexError. */
  readonly signal: AbortSignal
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
  const giveUp = (): void =>
    controller.abort(new AnnexError('egress_failed', `${what} was abandoned by its caller.`))
  const timer = setTimeout(() => {
    controller.abort(new AnnexError('egress_timeout', `${what} was not complete after ${timeoutMs} ms.`))
  }, timeoutMs)
  if (caller?.aborted) giveUp()
  caller?.addEventListener('abort', giveUp, { once: true })
  return {
    signal: controller.signal,
    end() {
      clearTimeout(timer)
      caller?.removeEventListener('abort', giveUp)
    },
  }
}
