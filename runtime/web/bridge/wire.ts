import type { AskProcess, LogLevel, PostToProcess, WireBody } from '../../bridge.ts'
import { post as kinds } from '../../wire-kinds.ts'
import { cut } from '../primordials.ts'

/** One line of the log: characters. What is longer is cut, and says so. */
export const logTextLimit = 8192
const cutMark = `… (cut: a line of the log has at most ${logTextLimit} characters)`

/**
 * The connection of one isolate with its sandbox process. Made when the prelude is evaluated, connected at
 * boot: until then nothing can be posted, and a snapshot of it holds no callback.
 */
export type Wire = {
  /** False when the process refused. Its error would show paths of the host, so it goes no further. */
  post(kind: number, id: number, number: number, text?: string, body?: WireBody): boolean
  ask: AskProcess
  log(level: LogLevel, text: string): void
  connect(post: PostToProcess, ask: AskProcess): void
  /**
   * The dispatch that the code which runs now belongs to; 0 when none is known. Set from the message that
   * woke the isolate, and true until the next one, as microtasks run before that.
   */
  dispatch: number
}

/** `logLevels` by name. */
const levelNumber = { debug: 0, info: 1, warn: 2, error: 3 } as const

/** A wire that is not connected yet. */
export const createWire = (): Wire => {
  let postToProcess: PostToProcess | undefined
  const wire: Wire = {
    dispatch: 0,
    connect(post, ask) {
      postToProcess = post
      const anyAsk = ask as (op: string, first?: unknown, second?: unknown) => unknown
      wire.ask = ((op: string, first?: unknown, second?: unknown) => {
        try {
          return anyAsk(op, first, second)
        } catch {
          throw new Error(`The sandbox process could not answer "${op}"`)
        }
      }) as AskProcess
    },
    ask: (() => {
      throw new Error('The isolate is not connected yet')
    }) as AskProcess,
    post(kind, id, number, text, body) {
      if (postToProcess === undefined) return false
      try {
        postToProcess(kind, id, number, text, body)
        return true
      } catch {
        return false
      }
    },
    log(level, text) {
      const bounded = text.length <= logTextLimit ? text : cut(text, logTextLimit - cutMark.length) + cutMark
      wire.post(kinds.log, wire.dispatch, levelNumber[level], bounded)
    },
  }
  return wire
}
