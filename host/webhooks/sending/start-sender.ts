import type { Worker } from 'node:worker_threads'
import type { AttemptOptions, Sendable } from '../send-attempt.ts'
import type { SigningSecrets } from '../signature.ts'
import {
  type Asked,
  createBatch,
  type FromThread,
  type SentAttempt,
  type ThreadOptions,
  type ToThread,
} from './messages.ts'
import { startThread } from './start-thread.ts'

/** A delivery, and whose turn it takes. */
export type OwedTo = Sendable & { endpointId: string }

export type Sender = {
  /** `sendAttempt`, in the thread, when it is its turn there. */
  send: (delivery: OwedTo, secrets: SigningSecrets, options: AttemptOptions) => Promise<SentAttempt>
  close: () => Promise<void>
}

export type SenderOptions = ThreadOptions & {
  /** One that was started before, and was told nothing yet. Default: a new one. */
  thread?: Worker | undefined
  /** Where Annex itself listens: a request that comes back to it counts as one more hop. */
  ownOrigin: () => string
  /** The thread has ended, which it should not. */
  onDefect: (error: unknown) => void
}

/** What is under way: what to store of it should the thread end. */
type UnderWay = { asked: Asked; startedAt: number; resolve: (attempt: SentAttempt) => void }

/**
 * Sends deliveries in a thread of its own: signing, TLS and whatever receivers answer take no time from the visitors of this
 * host, nor from its database; and what a receiver might do to whoever talks to it ends here. A thread that ended is started
 * anew for the next one, and what was under way in it is an attempt without an answer.
 */
export function startSender(options: SenderOptions): Sender {
  const { allow, userAgent, hopsKey, atOnce, ownOrigin, onDefect } = options
  const underWay = new Map<number, UnderWay>()
  let last = 0
  let closed = false
  let thread: Worker | undefined = begin(options.thread ?? startThread())
  const ask = createBatch<Asked>((asked) => tell({ own: ownOrigin(), asked }))
  return {
    send({ id, eventId, endpointId, url, body, hops }, secrets, attemptOptions) {
      last += 1
      const delivery = { id, eventId, url, body, ...(hops === undefined ? {} : { hops }) }
      const asked = { number: last, endpointId, delivery, secrets, options: attemptOptions }
      return new Promise((resolve) => {
        underWay.set(asked.number, { asked, startedAt: performance.now(), resolve })
        ask(asked)
      })
    },
    async close() {
      closed = true
      await thread?.terminate()
    },
  }

  function begin(thread: Worker): Worker {
    thread.postMessage({ allow, userAgent, hopsKey, atOnce } satisfies ThreadOptions)
    // Whoever started it before may not have waited for it.
    thread.ref()
    return thread.on('message', hear).on('error', onDefect).on('exit', endAll)
  }

  function tell(message: ToThread): void {
    thread ??= begin(startThread())
    thread.postMessage(message)
  }

  function hear({ attempts }: FromThread): void {
    for (const { number, attempt } of attempts) {
      underWay.get(number)?.resolve(attempt)
      underWay.delete(number)
    }
  }

  function endAll(): void {
    thread = undefined
    // Who closes it has let go of what was under way.
    if (closed) return
    const cut = [...underWay.values()]
    underWay.clear()
    for (const { asked, startedAt, resolve } of cut) resolve(toCutOff(asked, startedAt))
  }
}

const toCutOff = ({ options }: Asked, startedAt: number): SentAttempt => ({
  startedAtMs: options.nowMs,
  durationMs: Math.round(performance.now() - startedAt),
  outcome: 'error',
  timing: '{}',
  requestHeaders: '[]',
  error: {
    code: 'egress_failed',
    message:
      'What sends deliveries has ended in the middle of this one: whether the receiver has it, nobody knows.',
  },
})
