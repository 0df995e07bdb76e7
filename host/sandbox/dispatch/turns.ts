import type { QueuedDispatch } from './live-dispatches.ts'

/** Dispatches that wait until their script may be loaded. Those of one script stay together, in their order. */
export type Turns = {
  wait: (queued: QueuedDispatch) => void
  /** True while earlier dispatches of the script wait: a later one must not pass them. */
  has: (key: string) => boolean
  /** Takes the dispatches of the script whose turn it is. */
  next: () => QueuedDispatch[]
  /** Takes those that were asked for before a time. */
  takeOlder: (askedMs: number) => QueuedDispatch[]
  takeAll: () => QueuedDispatch[]
  count: () => number
}

/** Visitors and events take turns: neither a burst of events nor a flood of visitors holds up the other. */
export function createTurns(): Turns {
  const visitors = new Map<string, QueuedDispatch[]>()
  const events = new Map<string, QueuedDispatch[]>()
  let lines = [visitors, events]
  let count = 0
  return {
    wait(queued) {
      const line = queued.context.event === undefined ? visitors : events
      const { key } = queued.target
      const waiting = line.get(key)
      if (waiting === undefined) line.set(key, [queued])
      else waiting.push(queued)
      count += 1
    },
    has: (key) => visitors.has(key) || events.has(key),
    next() {
      const [line] = lines.filter(({ size }) => size > 0)
      if (line === undefined) return []
      lines = [...lines.filter((other) => other !== line), line]
      const [key = ''] = line.keys()
      return take((queued) => queued.target.key === key, [key])
    },
    takeOlder: (askedMs) => take((queued) => queued.askedMs < askedMs),
    takeAll: () => take(() => true),
    count: () => count,
  }

  /** In the order in which they came. */
  function take(isTaken: (queued: QueuedDispatch) => boolean, keys?: readonly string[]): QueuedDispatch[] {
    if (count === 0) return []
    const taken: QueuedDispatch[] = []
    for (const line of lines) {
      for (const key of keys ?? [...line.keys()]) {
        const { true: out = [], false: left = [] } = Object.groupBy(line.get(key) ?? [], (one) =>
          isTaken(one) ? 'true' : 'false',
        )
        taken.push(...out)
        if (left.length === 0) line.delete(key)
        else line.set(key, left)
      }
    }
    count -= taken.length
    return taken.sort((one, other) => one.askedMs - other.askedMs)
  }
}
