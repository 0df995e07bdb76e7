import { platformFile } from '../../platform-frames.ts'
import { log } from '../ask.ts'
import { thrownText } from '../bridge/plain-error.ts'

type Reported = { message: string; filename: string; lineno: number; colno: number; error: unknown }

/** Fires `error` at the global object; false where a listener has taken care of it. */
let fireError: ((reported: Reported) => boolean) | undefined
let reporting = false

export const reportErrorsTo = (fire: (reported: Reported) => boolean): void => {
  fireError = fire
}

/**
 * HTML standard, "report an exception": an uncaught exception goes to the global object's listeners, and to the log unless
 * a listener prevents it. An exception of such a listener goes to the log alone.
 */
export const reportException = (thrown: unknown): void => {
  const text = thrownText(thrown)
  const isMine = !reporting
  if (isMine && fireError !== undefined) {
    reporting = true
    try {
      const { filename, lineno, colno } = positionOf(thrown)
      if (!fireError({ message: `Uncaught ${firstLine(text)}`, filename, lineno, colno, error: thrown }))
        return
    } catch {
      // A built-in that this leans on was replaced by the script: it is told in the log.
    } finally {
      reporting = false
    }
  }
  log('error', `Uncaught ${text}`)
}

const firstLine = (text: string): string => {
  const end = text.indexOf('\n')
  return end === -1 ? text : text.slice(0, end)
}

/** Where it was thrown, or who reports it: the first frame that is not the platform's. */
const positionOf = (thrown: unknown): { filename: string; lineno: number; colno: number } => {
  const stack = thrown instanceof Error ? `${thrown.stack}` : `${new Error().stack}`
  for (const frame of stack.split('\n')) {
    const found = /([^\s(]+):(\d+):(\d+)\)?$/.exec(frame)
    if (found === null || found[1] === platformFile) continue
    return { filename: found[1] ?? '', lineno: Number(found[2]), colno: Number(found[3]) }
  }
  return { filename: '', lineno: 0, colno: 0 }
}
