/**
 * The flight recorder. V8 can end this process at once, and a loop can keep it from writing any frame. So it notes its work in a
 * small file that the host opened and can read at any time:
 *
 *     u32 last dispatch begun · u32 sandbox running (0: none) · u32 dispatch running · u32 number of the stretch
 *
 * The host reads from it which dispatches had not begun (they run in another process), and which sandbox ran.
 */
export const blackBoxBytes = 16
/** Stretches that begin within this time of the last record are not noted separately. */
const quickMs = 0.5

/**
 * A dispatch that begins (`begun`) is noted before it does. Within a batch, `enter` may follow `enter` without `leave`. All
 * functions return how long, in ms, the host could see the last stretch as running; 0 without one.
 */
export type BlackBox = {
  enter: (sandbox: number, dispatch: number, begun?: number) => number
  leave: () => number
  /** The dispatch that was noted last has not begun. `begun` is the last one that has. */
  takeBack: (begun: number) => void
  seen: () => number
}

/** @param write writes this many bytes of the record, from `at` on, to the same offset of the file that the host gave */
export function createBlackBox(write: (record: Buffer, at: number, bytes: number) => void): BlackBox {
  const record = Buffer.alloc(blackBoxBytes)
  const words = new Uint32Array(record.buffer, record.byteOffset, blackBoxBytes / 4)
  let enteredMs = 0

  // Measured from before the record is written to after it is changed: never less than the host has seen.
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
      write(record, 0, blackBoxBytes)
      const ms = seenMs(before)
      enteredMs = startedMs
      return ms
    },
    leave() {
      const before = words[1] ?? 0
      if (before === 0) return 0
      words[1] = 0
      write(record, 4, 4)
      return seenMs(before)
    },
    takeBack(begun) {
      words[0] = begun
      write(record, 0, 4)
    },
  }
}
