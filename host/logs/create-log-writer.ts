import type { Db } from '../db/open-database.ts'
import { insertLogs, type LogRow, pruneLogs } from '../db/queries/logs.ts'

export type LogLine = Omit<LogRow, 'id' | 'at'>

/** Keeps what scripts log, for `annex logs` and the API. */
export type LogWriter = {
  write: (line: LogLine) => void
  /** Settles when all that was written so far is in the database. */
  flush: () => Promise<void>
  close: () => Promise<void>
}

const flushEveryMs = 100
/** A script that logs in a loop loses lines, not the host its memory. */
const maxWaiting = 5_000
const keepLines = 50_000
const pruneEveryLines = 5_000

/** Writes lines in groups: a log line costs a script no commit of its own. */
export function createLogWriter(db: Db, onDefect: (error: unknown) => void): LogWriter {
  let waiting: (LogLine & { at: number })[] = []
  let dropped = 0
  let sincePrune = 0
  let flushing: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  return {
    write(line) {
      if (waiting.length >= maxWaiting) dropped += 1
      else waiting.push({ ...line, at: Date.now() })
      timer ??= setTimeout(flush, flushEveryMs)
    },
    flush,
    close: flush,
  }

  function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    flushing = flushing.then(store).catch(onDefect)
    return flushing
  }

  async function store(): Promise<void> {
    const lines = waiting
    waiting = []
    const last = lines.at(-1)
    if (last === undefined) return
    if (dropped > 0) {
      lines.push({
        ...last,
        level: 'warn',
        text: `${dropped} further log lines were dropped: too many at once.`,
      })
      dropped = 0
    }
    await insertLogs(db, lines)
    sincePrune += lines.length
    if (sincePrune < pruneEveryLines) return
    sincePrune = 0
    await pruneLogs(db, keepLines)
  }
}
