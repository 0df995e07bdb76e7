import type { Readable } from 'node:stream'
import { AnnexError } from '../errors/annex-error.ts'
import type { Observed } from './agent.ts'

/** What may come beside a body in any case: heads, and what waits in the connection while the body's reader is slow. */
const besideAnyBody = 262_144

/** And for each byte of the body: a chunk of one byte has five beside it. */
const besideEachByte = 8

export type BesideBody = {
  observer: NonNullable<Observed['observer']>
  /** Whether it went over a kept connection, and nothing has come back. */
  isUnheard(): boolean
  /** Takes what comes of the body off, once there is one. */
  countBody(body: Readable): void
}

/**
 * Breaks off an answer that is hardly anything but what nobody is given: a reason phrase without end, interim answers,
 * extensions of chunks. Reading them is the host's own time, and the clock of a request ends with its head.
 *
 * @param what the exchange in words: `GET https://example.com`
 */
export function boundBesideBody(what: string, breakOff: (error: AnnexError) => void): BesideBody {
  let ofBody = 0
  let hasRead = false
  const onRead = (bytes: number): void => {
    if (bytes > 0) hasRead = true
    const limit = besideAnyBody + ofBody * besideEachByte
    if (bytes - ofBody <= limit) return
    const text = `${what} was broken off: more than ${limit} bytes came beside the ${ofBody} of its body.`
    breakOff(new AnnexError('egress_too_large', text))
  }
  const observer: BesideBody['observer'] = { line: undefined, isOver: false, onRead }
  return {
    observer,
    isUnheard: () => !hasRead && observer.line?.connection?.isUsed === true,
    countBody(body) {
      // A listener for its data would have it read before anybody wants it.
      const push = body.push.bind(body)
      body.push = (chunk: Uint8Array | null, encoding) => {
        ofBody += chunk?.length ?? 0
        return push(chunk, encoding)
      }
    },
  }
}
