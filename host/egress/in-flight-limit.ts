import { AnnexError } from '../errors.ts'

/** Limits how many operations of one key are in flight. Further ones wait in the order of their arrival. */
export type InFlightLimit = {
  /**
   * Waits for a slot.
   *
   * @returns gives the slot back; it must be called once
   * @throws AnnexError `egress_failed` when the signal aborts before there is a slot
   */
  enter: (key: string, signal: AbortSignal) => Promise<() => void>
}

type Queue = { inFlight: number; waiting: Set<() => void> }

/** @param max operations of one key in flight */
export function createInFlightLimit(max: number): InFlightLimit {
  const queues = new Map<string, Queue>()
  return { enter }

  async function enter(key: string, signal: AbortSignal): Promise<() => void> {
    if (signal.aborted) throw abandoned()
    const queue = queues.get(key) ?? { inFlight: 0, waiting: new Set() }
    queues.set(key, queue)
    if (queue.inFlight < max) queue.inFlight += 1
    else await wait(queue, signal)
    return () => leave(key, queue)
  }

  /** Gives the slot to the first that waits. */
  function leave(key: string, queue: Queue): void {
    const [next] = queue.waiting
    if (next !== undefined) {
      queue.waiting.delete(next)
      next()
      return
    }
    queue.inFlight -= 1
    if (queue.inFlight === 0) queues.delete(key)
  }
}

function wait(queue: Queue, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const start = (): void => {
      signal.removeEventListener('abort', giveUp)
      resolve()
    }
    // A Set keeps the order of arrival and loses an entry from its middle at no cost.
    const giveUp = (): void => {
      queue.waiting.delete(start)
      reject(abandoned())
    }
    signal.addEventListener('abort', giveUp, { once: true })
    queue.waiting.add(start)
  })
}

const abandoned = (): AnnexError =>
  new AnnexError('egress_failed', 'The request was abandoned by its caller while it waited for its turn.')
