import type { Db } from '../db/db.ts'
import { insertLogs, type LogRow, pruneLogs } from '../db/queries/logs.ts'
import { toStorable } from '../db/rows/storable-text.ts'
import { createWriteBehind } from '../db/write-behind.ts'
import type { KnownSecrets } from './known-secrets.ts'

export type LogLine = Omit<LogRow, 'id' | 'at'>

/** Keeps what scripts log, for `annex logs` and the API. */
export type LogWriter = {
  /** A line of a script. One that logs without end loses lines of its own. */
  write: (line: LogLine) => void
  /** A line of the host about a script: it is kept whatever the script logs meanwhile. */
  report: (line: LogLine) => void
  /** From now on it gets each line that was stored. */
  follow: (follower: (line: StoredLine) => void) => void
  /** Settles when all that was written so far is in the database. */
  flush: () => Promise<void>
  close: () => Promise<void>
}

/** Turns the places in an integration's lines into the author's files and lines, and shows the lines around the first one. */
export type ToSource = (integration: string) => Promise<{
  map: (text: string) => string
  frame: (text: string) => string | undefined
}>

/** `frame`: of an error, the author's lines around its place. */
export type StoredLine = Omit<LogRow, 'id'> & { frame?: string | undefined }

const flushEveryMs = 100
/** What one installation may have waiting, and all of them together. */
const maxOfOne = 1_000
const maxOfAll = 20_000
const keptOfOne = 10_000
const pruneEveryLines = 2_000
/** Between them the host does other things: a flood of long lines holds up nobody's request. */
const linesAtOnce = 100

type Waiting = LogLine & { at: number }

/** Writes lines in groups: a log line costs a script no commit of its own. */
export function createLogWriter(
  db: Db,
  given: { toSource: ToSource; redact: KnownSecrets['redact']; onDefect: (error: unknown) => void },
): LogWriter {
  const { toSource, redact, onDefect } = given
  let waiting: Waiting[] = []
  let follower: ((line: StoredLine) => void) | undefined
  const counts = new Map<string, number>()
  const sincePrune = new Map<string, number>()
  const writing = createWriteBehind(store, flushEveryMs, onDefect)
  return {
    write(line) {
      const owner = ownerOf(line)
      const count = (counts.get(owner) ?? 0) + 1
      counts.set(owner, count)
      if (count < maxOfOne && waiting.length < maxOfAll) return add(line)
      if (count === maxOfOne)
        add({ ...line, level: 'warn', text: 'Too many lines at once: some are dropped here.' })
    },
    report: add,
    follow(given) {
      follower = given
    },
    flush: writing.flush,
    close: writing.close,
  }

  function add(line: LogLine): void {
    waiting.push({ ...line, at: Date.now() })
    writing.note()
  }

  async function store(): Promise<void> {
    const lines = waiting
    waiting = []
    counts.clear()
    if (lines.length === 0) return
    for (const [integration, own] of Map.groupBy(lines, (line) => line.integration)) {
      const { map, frame } = await toSource(integration)
      for (let at = 0; at < own.length; at += linesAtOnce) {
        const rows = own.slice(at, at + linesAtOnce).map((line) => ({
          ...line,
          text: toStorable(map(redact(ownerOf(line), line.text))),
        }))
        await insertLogs(db, rows)
        for (const [index, row] of rows.entries()) {
          const isError = row.level === 'error'
          follower?.({ ...row, ...(isError && { frame: frame(own[at + index]?.text ?? '') }) })
        }
      }
      await prune(integration, own.length)
    }
  }

  /** Each integration has its own share of the log: none can push out another's. */
  async function prune(integration: string, added: number): Promise<void> {
    const count = (sincePrune.get(integration) ?? 0) + added
    sincePrune.set(integration, count < pruneEveryLines ? count : 0)
    if (count >= pruneEveryLines) await pruneLogs(db, integration, keptOfOne)
  }
}

const ownerOf = ({ installationId, integration }: LogLine): string => installationId ?? integration
