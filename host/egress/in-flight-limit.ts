import { AnnexError } from '../errors/annex-error.ts'

/** Lets so many in at once for each key; the others wait in line. */
export type Turns = {
  /**
   * Waits for a turn. What it gives back ends the turn, and has to be called once.
   *
   * @throws AnnexError `egress_failed` when the signal aborts before the turn has come
   */
  take: (key: string, signal: AbortSignal) => Promise<() => void>
}

type Line = { taken: number; waiting: Set<() => void> }

/** @param limit turns at once for one key */
export function createTurns(limit: number): Turns {
  const lines = new Map<string, Line>()

  function end(key: string, line: Line): void {
    // A Set keeps the order of arrival, and whoever gives up leaves it from the middle.
    const [next] = line.waiting
    if (next !== undefined) {
      line.waiting.delete(next)
      next()
      return
    }
    line.taken -= 1
    if (line.taken === 0) lines.delete(key)
  }

  async function take(key: string, signal: AbortSignal): Promise<() => void> {
    if (signal.aborted) throw abandoned()
    const line = lines.get(key) ?? { taken: 0, waiting: new Set() }
    lines.set(key, line)
    if (line.taken < limit) line.taken += 1
    else await comeFirst(line, signal)
    return () => end(key, line)
  }

  return { take }
}

function comeFirst(line: Line, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const come = (): void => {
      signal.removeEventListener('abort', giveUp)
      resolve()
    }
    const giveUp = (): void => {
      line.waiting.delete(come)
      reject(abandoned())
    }
    signal.addEventListener('abort', giveUp, { once: true })
    line.waiting.add(come)
  })
}

const abandoned = (): AnnexError =>
  new AnnexError('egress_failed', 'The request was abandoned by its caller while it waited for its turn.')
