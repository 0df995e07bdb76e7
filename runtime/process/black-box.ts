import { writeSync } from 'node:fs'

/**
 * The flight recorder. V8 can end this process without a word, and a loop can keep it from ever speaking
 * again; so what it is doing stands in a small file that the host opened for it and can read at any time:
 *
 *     u32 last dispatch begun · u32 sandbox running (0: none) · u32 dispatch running · u32 number of the stretch
 *
 * The host learns from it which dispatches had not begun (they run elsewhere) and whose code it was.
 */
export const blackBoxBytes = 16
/** Two stretches of a dispatch that are seen from outside as one are no longer than that. */
const quickMs = 0.5

/**
 * A dispatch that begins (`begun`) is noted before it does.
 *
 * Between one stretch and the next of a batch, `leave` need not be said. All return for how long, in ms, the stretch
 * before could be seen from outside as still running; 0 when there was none.
 */
export type BlackBox = {
  enter: (sandbox: number, dispatch: number, begun?: number) => number
  leave: () => number
  /** What was noted last as begun has not: it is held back, and this is the last one that has. */
  takeBack: (begun: number) => void
  /** So far: nothing is noted. */
  seen: () => number
}

/** @param fd a file descriptor open for writing, given by the host */
export function createBlackBox(fd: number): BlackBox {
  const record = Buffer.alloc(blackBoxBytes)
  const words = new Uint32Array(record.buffer, record.byteOffset, blackBoxBytes / 4)
  let enteredMs = 0

  // Taken before a stretch can be seen, and after it no longer can: never less than the host has seen of it.
  const seenMs = (running: number): number => (running === 0 ? 0 : performance.now() - enteredMs)

  return {
    seen: () => seenMs(words[1] ?? 0),
    enter(sandbox, dispatch, begun = 0) {
      const before = words[1] ?? 0
      const startedMs = performance.now()
      if (begun !== 0 && begun <= (words[0] ?? 0) && before === sandbox && startedMs - enteredMs < quickMs)
        return 0
      if (begun > (words[0] ?? 0)) words[0] = begun
      words[1] = sandbox
      words[2] = dispatch
      words[3] = (words[3] ?? 0) + 1
      writeSync(fd, record, 0, blackBoxBytes, 0)
      const ms = seenMs(before)
      enteredMs = startedMs
      return ms
    },
    leave() {
      const before = words[1] ?? 0
      if (before === 0) return 0
      words[1] = 0
      writeSync(fd, record, 4, 4, 4)
      return seenMs(before)
    },
    takeBack(begun) {
      words[0] = begun
      writeSync(fd, record, 0, 4, 0)
    },
  }
}
