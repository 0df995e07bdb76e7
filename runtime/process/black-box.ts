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

export type BlackBox = {
  enter: (sandbox: number, dispatch: number, begins: boolean) => void
  leave: () => void
}

/** @param fd a file descriptor open for writing, given by the host */
export function createBlackBox(fd: number): BlackBox {
  const record = Buffer.alloc(blackBoxBytes)
  let stretch = 0
  return {
    enter(sandbox, dispatch, begins) {
      stretch = (stretch + 1) >>> 0
      if (begins) record.writeUInt32LE(dispatch, 0)
      record.writeUInt32LE(sandbox, 4)
      record.writeUInt32LE(dispatch, 8)
      record.writeUInt32LE(stretch, 12)
      writeSync(fd, record, 0, blackBoxBytes, 0)
    },
    leave() {
      record.writeUInt32LE(0, 4)
      writeSync(fd, record, 4, 4, 4)
    },
  }
}
