import type { Attempt, AttemptOptions, Sendable } from '../send-attempt.ts'
import type { SigningSecrets } from '../signature.ts'
import type { AtOnce } from './admission.ts'

/** An attempt that is asked for, by a number of the host's own. */
export type Asked = {
  number: number
  endpointId: string
  delivery: Sendable
  secrets: SigningSecrets
  options: AttemptOptions
}

/** An attempt on its way to be stored: as texts, what would be many small objects in each thread. */
export type SentAttempt = Omit<Attempt, 'requestHeaders' | 'responseHeaders' | 'timing'> & {
  /** These are JSON. */
  requestHeaders: string
  responseHeaders?: string
  timing: string
}

export const toSent = ({ requestHeaders, responseHeaders, timing, ...attempt }: Attempt): SentAttempt => ({
  ...attempt,
  requestHeaders: JSON.stringify(requestHeaders),
  ...(responseHeaders !== undefined && { responseHeaders: JSON.stringify(responseHeaders) }),
  timing: JSON.stringify(timing),
})

/** What comes after `ThreadOptions`. `own`: Annex's own origin, which is known once it listens. */
export type ToThread = { own: string; asked: readonly Asked[] }

export type FromThread = { attempts: readonly { number: number; attempt: SentAttempt }[] }

/** What the thread is told first: `EgressOptions`, but for what is asked for at the host, and how much it sends at once. */
export type ThreadOptions = {
  allow: readonly string[]
  userAgent: string
  hopsKey: Uint8Array
  atOnce: AtOnce
}

/**
 * Collects what comes up in one turn of the event loop: a message costs many times what one more part of it does.
 *
 * @returns takes one
 */
export function createBatch<Part>(send: (parts: Part[]) => void): (part: Part) => void {
  let parts: Part[] = []
  return (part) => {
    parts.push(part)
    if (parts.length > 1) return
    setImmediate(() => {
      const batch = parts
      parts = []
      send(batch)
    })
  }
}
