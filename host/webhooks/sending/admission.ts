import { createTurns } from './turns.ts'

/** How many attempts may be under way at once, and how many of them to one endpoint. */
export type AtOnce = { inAll: number; perEndpoint: number }

/** Settles when what it began has ended. */
type Begin = () => Promise<void>

/**
 * Begins attempts as many at once as may be, and the others when it is their turn: round robin over the endpoints, past those
 * that have their share under way. What has waited for an answer for a while needs no turn any more.
 *
 * @returns takes one
 */
export function createAdmission({ inAll, perEndpoint }: AtOnce): (endpointId: string, begin: Begin) => void {
  // How many wait in all is bounded by who asks.
  const turns = createTurns(inAll, Number.POSITIVE_INFINITY)
  const underWay = new Map<string, number>()
  /** In the order in which it is their turn. */
  const waiting = new Map<string, Begin[]>()
  let looksLater = false
  return (endpointId, begin) => {
    const ofIt = waiting.get(endpointId)
    if (ofIt === undefined) waiting.set(endpointId, [begin])
    else ofIt.push(begin)
    beginNext()
  }

  function beginNext(): void {
    while (turns.free(performance.now()) > 0) {
      const endpointId = [...waiting.keys()].find(hasRoom)
      if (endpointId === undefined) return
      const [begin, ...others] = waiting.get(endpointId) ?? []
      waiting.delete(endpointId)
      if (others.length > 0) waiting.set(endpointId, others)
      if (begin !== undefined) void run(endpointId, begin)
    }
    if (waiting.size > 0) lookLater()
  }

  function hasRoom(endpointId: string): boolean {
    return (underWay.get(endpointId) ?? 0) < perEndpoint
  }

  async function run(endpointId: string, begin: Begin): Promise<void> {
    const turn = turns.take(performance.now())
    underWay.set(endpointId, (underWay.get(endpointId) ?? 0) + 1)
    await begin()
    turns.give(turn)
    const left = (underWay.get(endpointId) ?? 1) - 1
    if (left > 0) underWay.set(endpointId, left)
    else underWay.delete(endpointId)
    beginNext()
  }

  /** When the oldest needs its turn no longer. */
  function lookLater(): void {
    const at = turns.nextFreeAt()
    if (looksLater || at === undefined) return
    looksLater = true
    const look = () => {
      looksLater = false
      beginNext()
    }
    setTimeout(look, Math.max(1, at - performance.now()))
  }
}
